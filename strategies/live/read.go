package live

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// read reads a response as far as it takes to know what it is.
func (a *attempt) read(resp *http.Response) letter {
	r := reply{resp: resp, rest: true}
	if resp.Body == nil {
		resp.Body = http.NoBody // a base should not do that
	}
	switch {
	case silent(resp):
		r.rest = resp.Body != http.NoBody
	case resp.StatusCode < 400 && isStream(resp.Header):
		return a.readStream(resp)
	case resp.StatusCode >= 400 || !foreign(resp) || a.remade():
		for most := a.most(); r.rest && len(r.buf) < most; {
			r.read(most)
		}
	}
	if r.err != nil && a.ctx.Err() != nil { // it did not break: nobody waits for it any more
		err := r.err
		r.close()
		return a.lost(err)
	}
	a.said = a.t.parse(&r)
	a.t.outcome(&a.said, &a.outcome)
	return letter{kind: strategies.Reply, reply: r}
}

// silent reports whether a response has no body that says anything, or one that
// is no body at all.
func silent(resp *http.Response) bool {
	switch s := resp.StatusCode; {
	case s < 200, s == http.StatusNoContent, s == http.StatusResetContent, s >= 300 && s < 400:
		return true
	}
	return resp.Request != nil && resp.Request.Method == http.MethodHead
}

// foreign reports whether an answer is of a kind about which dialects say nothing,
// such as audio: its status has to do. What should be JSON and is a page is not.
func foreign(resp *http.Response) bool {
	switch first(resp.Header, "Content-Encoding") {
	case "", "identity", "gzip":
	default:
		return true
	}
	contentType, _, _ := strings.Cut(strings.ToLower(first(resp.Header, "Content-Type")), ";")
	switch contentType = strings.TrimSpace(contentType); {
	case contentType == "", strings.Contains(contentType, "json") && !strings.Contains(contentType, "ndjson") && !strings.Contains(contentType, "jsonl"),
		contentType == "text/html":
		// Only what is asked with a body is asked of a model.
		return resp.ContentLength == 0 && resp.Request != nil && resp.Request.Method != http.MethodPost
	}
	return true
}

// read reads some more of the body, which is at most peek bytes then. A body that
// gives nothing a hundred times has broken.
func (r *reply) read(peek int) {
	if r.buf == nil {
		size := min(4096, peek)
		if n := r.resp.ContentLength; n >= 0 && n < int64(peek) {
			size = int(n) + 1 // one more, so that the end is seen at once
		}
		r.buf = make([]byte, 0, size)
	}
	if len(r.buf) == cap(r.buf) {
		r.buf = append(r.buf, 0)[:len(r.buf)]
	}
	for range 100 {
		n, err := r.resp.Body.Read(r.buf[len(r.buf):min(cap(r.buf), peek)])
		r.buf = r.buf[:len(r.buf)+n]
		if err != nil {
			if r.rest = false; err != io.EOF {
				r.err = err
			}
			return
		}
		if n > 0 {
			return
		}
	}
	r.rest, r.err = false, io.ErrNoProgress
}

// outcome is what the strategy's reader makes of a reply: dates are read against
// this machine's clock.
func (t *Transport) outcome(r *wire.Reply, o *wire.Outcome) {
	t.program.Reader.Read(r, t.clock.Now().Sub(time.Unix(t.epoch, 0)), o)
}

// parse returns what a reply says.
func (t *Transport) parse(r *reply) wire.Reply {
	text, all := r.text(t.cfg.Peek)
	if all && plain(r.resp, text) {
		return wire.Reply{Status: uint16(r.resp.StatusCode), RetryAfter: wire.NoHint, Tokens: usage(text)}
	}
	in := dialect.Received{Status: r.resp.StatusCode, Header: r.resp.Header.Get, Body: text, Broken: r.err != nil}
	d := t.dialect
	if d == nil {
		sniffed := dialect.Sniff(&in)
		d = &sniffed
	}
	got := d.Parse(&in, dialect.Reading{Epoch: t.epoch})
	if r.resp.StatusCode < 400 && r.err == nil && believed(r, &got, text, all) {
		got.Body, got.Class, got.Shown, got.Words = wire.Completion, wire.OK, wire.OK, 0
	}
	return got
}

// text is what has been read of a reply, decompressed if need be, and whether
// that is all. Callers who ask for gzip themselves get it, so the base leaves it.
func (r *reply) text(most int) (text []byte, all bool) {
	all = r.whole() && r.err == nil
	if first(r.resp.Header, "Content-Encoding") != "gzip" || len(r.buf) == 0 {
		return r.buf, all
	}
	z, err := gzip.NewReader(bytes.NewReader(r.buf))
	if err != nil {
		return r.buf, all
	}
	text, err = io.ReadAll(io.LimitReader(z, int64(most)+1))
	return text, all && err == nil && len(text) <= most
}

// believed reports whether a success is one although its dialect does not see an
// answer in it: because there is none to be seen, or not all of it.
func believed(r *reply, got *wire.Reply, text []byte, all bool) bool {
	switch {
	case silent(r.resp) || foreign(r.resp):
		return true
	case got.Body == wire.Garbage:
		return !all // it is too long to be an error
	case got.Body == wire.SilentEnd:
		return !containsAny(text, answering)
	}
	return false
}

// answering are the keys of a model's answer. JSON without any of them, such as a
// list of models or an embedding, has no finish marker to miss.
var answering = [][]byte{
	[]byte(`"choices"`), []byte(`"candidates"`), []byte(`"stop_reason"`), []byte(`"stopReason"`), []byte(`"finish_reason"`),
	[]byte(`"output"`), []byte(`"result"`), []byte(`"reply"`), []byte(`"response"`), []byte(`"completion_tokens"`),
}

// suspicious are the keys by which a body under a 200 may say that it is no
// answer, or not all of one. They cannot stand within a JSON string, where quotes
// are escaped.
var suspicious = [][]byte{
	[]byte(`"code"`), []byte(`"error"`), []byte(`"error_code"`), []byte(`"base_resp"`), []byte(`"Error"`), []byte(`"header"`), []byte(`"null"`),
}

// finished are finish markers, without which an answer is suspicious.
var finished = [][]byte{
	[]byte(`"finish_reason":"`), []byte(`"stop_reason":"`), []byte(`"finishReason":"`), []byte(`"stopReason":"`),
	[]byte(`"finish_reason": "`), []byte(`"stop_reason": "`), []byte(`"finishReason": "`), []byte(`"stopReason": "`),
}

func containsAny(text []byte, keys [][]byte) bool {
	for _, key := range keys {
		if bytes.Contains(text, key) {
			return true
		}
	}
	return false
}

// plain reports whether a reply is an ordinary answer beyond doubt, which most
// are: it takes a tenth of the time to parse it.
func plain(resp *http.Response, text []byte) bool {
	if resp.StatusCode != http.StatusOK || len(text) == 0 || text[0] != '{' || containsAny(text, suspicious) || !containsAny(text, finished) {
		return false
	}
	for name := range resp.Header {
		if strings.Contains(name, "atelimit") || strings.HasPrefix(name, "X-Should") || name == "Retry-After" {
			return false
		}
	}
	return json.Valid(text)
}

// counts are the keys of the number of output tokens in the usage of an answer.
var counts = [][]byte{[]byte(`"completion_tokens":`), []byte(`"output_tokens":`), []byte(`"candidatesTokenCount":`), []byte(`"outputTokens":`)}

// usage returns the number of output tokens that an answer states, 0 if none.
func usage(body []byte) uint32 {
	for _, key := range counts {
		if i := bytes.LastIndex(body, key); i >= 0 {
			digits := bytes.TrimLeft(body[i+len(key):], " ")
			n := 0
			for n < len(digits) && digits[n] >= '0' && digits[n] <= '9' {
				n++
			}
			v, _ := strconv.ParseUint(string(digits[:n]), 10, 32)
			return uint32(v)
		}
	}
	return 0
}

// isStream reports whether a response comes in pieces.
func isStream(h http.Header) bool {
	contentType, _, _ := strings.Cut(first(h, "Content-Type"), ";")
	switch strings.TrimSpace(contentType) {
	case "text/event-stream", "application/vnd.amazon.eventstream":
		encoding := first(h, "Content-Encoding")
		return encoding == "" || encoding == "identity"
	}
	return false
}

// first is h.Get(name) for a name that is spelled as it should be.
func first(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}
