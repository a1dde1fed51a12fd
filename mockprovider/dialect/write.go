package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"herdlab/mockprovider/wire"
)

// Content types.
const (
	jsonType  = "application/json"
	sseType   = "text/event-stream"
	htmlType  = "text/html; charset=utf-8"
	maxPieces = 4096 // of the text of an answer; its usage has the true length
)

// Write writes a whole reply: to requests without a stream, and if the reply
// cannot be a stream (see Streams). It reuses the memory of m.
func (d *Dialect) Write(m *Message, c *Context, r *wire.Reply) {
	m.Headers, m.Body = m.Headers[:0], m.Body[:0]
	contentType := jsonType
	if r.Body == wire.WrongType {
		contentType = htmlType
	}
	d.head(m, c, r, contentType)
	switch r.Body {
	case wire.ErrorBody, wire.CodeBody, wire.StreamError:
		writer := d.errorDialect(r)
		f := writer.newFailure(c, r, &m.Headers)
		m.Body = writer.codec.appendError(m.Body, c, &f)
	case wire.Garbage:
		m.Body = append(m.Body, garbage...)
	case wire.WrongType:
		m.Body = append(m.Body, page...)
	default:
		a := answerOf(c, r)
		m.Body = d.codec.appendAnswer(m.Body, c, &a)
		if r.Body == wire.Doubled {
			m.Body = append(m.Body, m.Body...)
		}
	}
	m.Length = len(m.Body)
	if r.Body == wire.TruncatedBody {
		m.Body, m.Broken = m.Body[:len(m.Body)/2], true
	}
}

// Bodies that faults send in place of an answer.
const (
	garbage = `{"id":"chatcmpl-` + "\x00" + `,,"choices":[{"mess`
	page    = "<!DOCTYPE html>\n<html><head><title>Gateway</title></head><body><h1>Welcome to the gateway</h1></body></html>\n"
)

// head writes the status and the headers.
func (d *Dialect) head(m *Message, c *Context, r *wire.Reply, contentType string) {
	m.Status, m.Length, m.Broken = int(r.Status), 0, false
	m.Headers.add("Content-Type", contentType)
	if d.requestIDHeader != "" && c.ID != "" {
		m.Headers.add(d.requestIDHeader, c.ID)
	}
	switch {
	case r.Marks&wire.ShouldRetry != 0:
		m.Headers.add("x-should-retry", "true")
	case r.Marks&wire.ShouldNotRetry != 0:
		m.Headers.add("x-should-retry", "false")
	}
	d.limits.write(r, c, &m.Headers)
}

// errorDialect returns the dialect with the form of the error r: d itself or,
// if d has no body of that kind, the dialect that is the model for such bodies.
func (d *Dialect) errorDialect(r *wire.Reply) *Dialect {
	if r.Body == wire.StreamError || d.templates.of(r).body() == r.Body {
		return d
	}
	after := "openai"
	if r.Body == wire.CodeBody {
		after = "codybuddy"
	}
	other, _ := ByName(after)
	other.millisHeader = d.millisHeader // the headers are those of d
	return &other
}

// newFailure returns the error that r stands for, and writes its headers.
func (d *Dialect) newFailure(c *Context, r *wire.Reply, h *Headers) failure {
	p := d.templates.of(r)
	f := failure{template: p, Class: r.Class, Status: r.Status, Code: r.Code, Limit: r.Limit, Remaining: r.Remaining}
	if f.Code == 0 {
		f.Code = p.Number
	}
	if f.Message = c.Message; f.Message == "" {
		f.Message = p.fill(c, r)
	}
	f.Message += d.writeHint(r, c, h, &f.hintFields, cmp.Or(p.Sentence, d.hintSentence))
	if d.kindHeader != "" {
		h.add(d.kindHeader, f.Kind)
	}
	return f
}

// answerOf returns the answer that r stands for.
func answerOf(c *Context, r *wire.Reply) answer {
	return answer{
		Text: textOf(Pieces(r.Tokens)), Model: c.served(r), Tokens: r.Tokens, NoFinish: r.Body == wire.SilentEnd,
		Capped: c.MaxTokens > 0 && r.Tokens >= c.MaxTokens,
	}
}

// Piece returns the i-th token of every answer, from 0.
func Piece(i int) string { return pieces[i%len(pieces)] }

var pieces = [...]string{
	"The ", "herd ", "comes ", "to ", "the ", "river ", "at ", "ten ", "and ", "leaves ", "by ", "turns. ",
}

// cycle is all pieces joined. Every text is the beginning of longest, which is
// cycle repeated.
var (
	cycle   = strings.Join(pieces[:], "")
	longest = strings.Repeat(cycle, maxPieces/len(pieces)+1)
)

// textOf returns the text of n pieces.
func textOf(n int) string {
	length := n / len(pieces) * len(cycle)
	for _, piece := range pieces[:n%len(pieces)] {
		length += len(piece)
	}
	return longest[:length]
}

// Models writes the list of models.
func (d *Dialect) Models(m *Message, c *Context, names []string) {
	m.Headers, m.Body = m.Headers[:0], m.Body[:0]
	d.head(m, c, &wire.Reply{Status: 200}, jsonType)
	m.Body = d.codec.appendModels(m.Body, c, names)
	m.Length = len(m.Body)
}

// appendQuoted writes a string like appendJSON, faster for plain ASCII.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return appendJSON(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendJSON writes v as JSON without a line break. The order of the fields is
// fixed.
func appendJSON(b []byte, v any) []byte {
	w := bytes.NewBuffer(b)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		// Only a number that is not JSON could fail, and this package writes all numbers.
		panic("dialect: " + err.Error())
	}
	return bytes.TrimSuffix(w.Bytes(), []byte("\n"))
}
