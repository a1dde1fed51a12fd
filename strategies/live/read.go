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

// read reads as much of a response as is needed to decide the outcome.
func (a *attempt) read(resp *http.Response) message {
	r := reply{resp: resp, more: true}
	if resp.Body == nil {
		resp.Body = http.NoBody // the base violates http.RoundTripper
	}
	switch {
	case withoutBody(resp):
		r.more = resp.Body != http.NoBody
	case resp.StatusCode < 400 && isStream(resp.Header):
		return a.readStream(resp)
	case resp.StatusCode >= 400 || !otherFormat(resp) || a.rewritten():
		for limit := a.readLimit(); r.more && len(r.buf) < limit; {
			r.read(limit)
		}
	}
	if r.err != nil && a.ctx.Err() != nil { // the error is due to the context
		err := r.err
		r.close()
		return a.failed(err)
	}
	a.reply = a.t.parse(&r)
	a.t.readOutcome(&a.reply, &a.outcome)
	return message{kind: strategies.Reply, reply: r}
}

// withoutBody reports whether a response has no body, or none that matters.
func withoutBody(resp *http.Response) bool {
	switch s := resp.StatusCode; {
	case s < 200, s == http.StatusNoContent, s == http.StatusResetContent, s >= 300 && s < 400:
		return true
	}
	return resp.Request != nil && resp.Request.Method == http.MethodHead
}

// otherFormat reports whether an answer has a format that dialects do not define,
// such as audio, so that only its status counts. An HTML page is not such a format:
// it is a failure where JSON is expected.
func otherFormat(resp *http.Response) bool {
	switch headerValue(resp.Header, "Content-Encoding") {
	case "", "identity", "gzip":
	default:
		return true
	}
	contentType, _, _ := strings.Cut(strings.ToLower(headerValue(resp.Header, "Content-Type")), ";")
	switch contentType = strings.TrimSpace(contentType); {
	case contentType == "", strings.Contains(contentType, "json") && !strings.Contains(contentType, "ndjson") && !strings.Contains(contentType, "jsonl"),
		contentType == "text/html":
		// Only requests with a body are for a model.
		return resp.ContentLength == 0 && resp.Request != nil && resp.Request.Method != http.MethodPost
	}
	return true
}

// read reads some more of the body, up to limit bytes in all. A body that returns
// no byte in 100 reads has failed.
func (r *reply) read(limit int) {
	if r.buf == nil {
		size := min(4096, limit)
		if n := r.resp.ContentLength; n >= 0 && n < int64(limit) {
			size = int(n) + 1 // one more, to see the end in the same read
		}
		r.buf = make([]byte, 0, size)
	}
	if len(r.buf) == cap(r.buf) {
		r.buf = append(r.buf, 0)[:len(r.buf)]
	}
	for range 100 {
		n, err := r.resp.Body.Read(r.buf[len(r.buf):min(cap(r.buf), limit)])
		r.buf = r.buf[:len(r.buf)+n]
		if err != nil {
			if r.more = false; err != io.EOF {
				r.err = err
			}
			return
		}
		if n > 0 {
			return
		}
	}
	r.more, r.err = false, io.ErrNoProgress
}

// readOutcome interprets a reply as the strategy's reader does. Dates are compared
// with the clock of the transport.
func (t *Transport) readOutcome(r *wire.Reply, o *wire.Outcome) {
	t.program.Reader.Read(r, t.clock.Now().Sub(time.Unix(t.epoch, 0)), o)
}

// parse returns the content of a reply.
func (t *Transport) parse(r *reply) wire.Reply {
	text, all := r.decodedBody(t.cfg.Peek)
	if all && ordinary(r.resp, text) {
		return wire.Reply{Status: uint16(r.resp.StatusCode), Hint: wire.Hint{Value: wire.NoHint}, Tokens: outputTokens(text)}
	}
	in := dialect.RawReply{Status: r.resp.StatusCode, Header: r.resp.Header.Get, Body: text, Broken: r.err != nil}
	d := t.dialect
	if d == nil {
		sniffed := dialect.Detect(&in)
		d = &sniffed
	}
	got := d.ParseReply(&in, dialect.ReadContext{Epoch: t.epoch})
	if r.resp.StatusCode < 400 && r.err == nil && acceptable(r, &got, text, all) {
		got.Body, got.Class, got.Shown, got.Words = wire.Completion, wire.OK, wire.OK, 0
	}
	return got
}

// decodedBody returns what has been read of the body, decompressed, and whether it
// is complete. A body is compressed here only if the caller asked for gzip.
func (r *reply) decodedBody(limit int) (text []byte, all bool) {
	all = r.complete() && r.err == nil
	if headerValue(r.resp.Header, "Content-Encoding") != "gzip" || len(r.buf) == 0 {
		return r.buf, all
	}
	z, err := gzip.NewReader(bytes.NewReader(r.buf))
	if err != nil {
		return r.buf, all
	}
	text, err = io.ReadAll(io.LimitReader(z, int64(limit)+1))
	return text, all && err == nil && len(text) <= limit
}

// acceptable reports whether a successful status is a success although the dialect
// sees no answer: because the format has none, or the rest has not been read.
func acceptable(r *reply, got *wire.Reply, text []byte, all bool) bool {
	switch {
	case withoutBody(r.resp) || otherFormat(r.resp):
		return true
	case got.Body == wire.Garbage:
		return !all // too long to be an error
	case got.Body == wire.SilentEnd:
		return !containsAny(text, answerKeys)
	}
	return false
}

// answerKeys are keys in the answers of models. JSON without them, such as a list
// of models or an embedding, needs no finish marker.
var answerKeys = [][]byte{
	[]byte(`"choices"`), []byte(`"candidates"`), []byte(`"stop_reason"`), []byte(`"stopReason"`), []byte(`"finish_reason"`),
	[]byte(`"output"`), []byte(`"result"`), []byte(`"reply"`), []byte(`"response"`), []byte(`"completion_tokens"`),
}

// errorKeys are keys that may mark a body with status 200 as an error or as
// incomplete. They cannot be inside a JSON string, because quotes are escaped.
var errorKeys = [][]byte{
	[]byte(`"code"`), []byte(`"error"`), []byte(`"error_code"`), []byte(`"base_resp"`), []byte(`"Error"`), []byte(`"header"`), []byte(`"null"`),
}

// finishKeys are finish markers; an answer without one may be incomplete.
var finishKeys = [][]byte{
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

// ordinary reports whether a reply is certainly a complete answer, as limit are.
// This takes a tenth of the time of parsing it.
func ordinary(resp *http.Response, text []byte) bool {
	if resp.StatusCode != http.StatusOK || len(text) == 0 || text[0] != '{' || containsAny(text, errorKeys) || !containsAny(text, finishKeys) {
		return false
	}
	for name := range resp.Header {
		if strings.Contains(name, "atelimit") || strings.HasPrefix(name, "X-Should") || name == "Retry-After" {
			return false
		}
	}
	return json.Valid(text)
}

// usageKeys are the keys of the number of output tokens in an answer.
var usageKeys = [][]byte{[]byte(`"completion_tokens":`), []byte(`"output_tokens":`), []byte(`"candidatesTokenCount":`), []byte(`"outputTokens":`)}

// outputTokens returns the number of output tokens stated in an answer; 0 if none.
func outputTokens(body []byte) uint32 {
	for _, key := range usageKeys {
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

// isStream reports whether a response is a stream of events.
func isStream(h http.Header) bool {
	contentType, _, _ := strings.Cut(headerValue(h, "Content-Type"), ";")
	switch strings.TrimSpace(contentType) {
	case "text/event-stream", "application/vnd.amazon.eventstream":
		encoding := headerValue(h, "Content-Encoding")
		return encoding == "" || encoding == "identity"
	}
	return false
}

// headerValue is h.Get(name) for a name in canonical form.
func headerValue(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}
