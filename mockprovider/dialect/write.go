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
	maxPieces = 4096 // of an answer's text; its usage states the true length
)

// Write writes a whole reply, for requests that do not stream and for replies
// that cannot (see Streams). It uses the memory of m again.
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
	if r.Body == wire.CutBody {
		m.Body, m.Broken = m.Body[:len(m.Body)/2], true
	}
}

// What faults put in place of an answer.
const (
	garbage = `{"id":"chatcmpl-` + "\x00" + `,,"choices":[{"mess`
	page    = "<!DOCTYPE html>\n<html><head><title>Gateway</title></head><body><h1>Welcome to the gateway</h1></body></html>\n"
)

// head writes status and headers.
func (d *Dialect) head(m *Message, c *Context, r *wire.Reply, contentType string) {
	m.Status, m.Length, m.Broken = int(r.Status), 0, false
	m.Headers.add("Content-Type", contentType)
	if d.requestIDHeader != "" && c.ID != "" {
		m.Headers.add(d.requestIDHeader, c.ID)
	}
	switch {
	case r.Marks&wire.SaysRetry != 0:
		m.Headers.add("x-should-retry", "true")
	case r.Marks&wire.SaysStop != 0:
		m.Headers.add("x-should-retry", "false")
	}
	d.limits.write(r, c, &m.Headers)
}

// writer returns who has words for r: d itself, or, for a body that d does not
// use, the dialect after which that shape is known.
func (d *Dialect) errorDialect(r *wire.Reply) *Dialect {
	if r.Body == wire.StreamError || d.templates.of(r).body() == r.Body {
		return d
	}
	after := "openai"
	if r.Body == wire.CodeBody {
		after = "codybuddy"
	}
	other, _ := ByName(after)
	other.millisHeader = d.millisHeader // the headers are still d's
	return &other
}

// failure collects what is to be said, and says what belongs into headers.
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

// answerOf is the answer that r stands for.
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

// cycle is the pieces together, longest the longest text. All texts are its
// beginnings.
var (
	cycle   = strings.Join(pieces[:], "")
	longest = strings.Repeat(cycle, maxPieces/len(pieces)+1)
)

// textOf is the text of n pieces.
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

// appendQuoted writes a string as appendJSON does.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return appendJSON(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendJSON writes v, which has a fixed order of fields.
func appendJSON(b []byte, v any) []byte {
	w := bytes.NewBuffer(b)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		// Only a hint that is no number could fail, and we write them ourselves.
		panic("dialect: " + err.Error())
	}
	return bytes.TrimSuffix(w.Bytes(), []byte("\n"))
}
