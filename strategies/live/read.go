package live

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// read reads a response as far as it takes to know what it is.
func (a *attempt) read(resp *http.Response) letter {
	if resp.StatusCode < 400 && isStream(resp.Header) {
		return a.readStream(resp)
	}
	r := reply{resp: resp, rest: true}
	r.fill(a.c.t.cfg.Peek)
	l := letter{kind: strategies.Reply, reply: r}
	compact := a.c.t.parse(&r)
	if r.err != nil && a.ctx.Err() != nil { // it did not break: nobody waits for it any more
		a.err = r.err
		l.reply.close()
		l.outcome = wire.Outcome{Class: a.classOf(r.err), RetryAfter: wire.NoHint}
		return l
	}
	a.c.t.outcome(&compact, &l.outcome)
	return l
}

// fill reads at most peek bytes of the body.
func (r *reply) fill(peek int) {
	if n := r.resp.ContentLength; n >= 0 && n < int64(peek) {
		r.buf = make([]byte, 0, n+1) // one more, so that the end is seen at once
	} else {
		r.buf = make([]byte, 0, min(peek, 4096))
	}
	for len(r.buf) < peek {
		if len(r.buf) == cap(r.buf) {
			r.buf = append(r.buf, 0)[:len(r.buf)]
		}
		n, err := r.resp.Body.Read(r.buf[len(r.buf):min(cap(r.buf), peek)])
		r.buf = r.buf[:len(r.buf)+n]
		if err != nil {
			if r.rest = false; err != io.EOF {
				r.err = err
			}
			return
		}
	}
}

// outcome is what the strategy's reader makes of a reply: dates are read against
// this machine's clock.
func (t *Transport) outcome(r *wire.Reply, o *wire.Outcome) {
	t.program.Reader.Read(r, t.clock.Now().Sub(unix(t.epoch)), o)
}

// parse returns what a reply says.
func (t *Transport) parse(r *reply) wire.Reply {
	if plain(r) {
		return wire.Reply{Status: uint16(r.resp.StatusCode), RetryAfter: wire.NoHint, Tokens: usage(r.buf)}
	}
	in := dialect.Received{
		Status: r.resp.StatusCode, Header: r.resp.Header.Get, Body: r.buf, Broken: r.err != nil,
	}
	d := t.dialect
	if d == nil {
		sniffed := dialect.Sniff(&in)
		d = &sniffed
	}
	got := d.Parse(&in, dialect.Reading{Epoch: t.epoch})
	if r.rest && r.resp.StatusCode < 400 && got.Body != wire.CodeBody {
		// An answer too long to be an error, and not all of it is here.
		got.Body, got.Class, got.Shown = wire.Completion, wire.OK, wire.OK
	}
	return got
}

// suspicious are the keys by which a body under a 200 may say that it is no
// answer. They cannot stand within a JSON string, where quotes are escaped.
var suspicious = [][]byte{
	[]byte(`"code"`), []byte(`"error"`), []byte(`"error_code"`), []byte(`"base_resp"`), []byte(`"Error"`), []byte(`"header"`),
}

// plain reports whether a reply is an ordinary answer beyond doubt, which most
// are: it takes a tenth of the time to parse it.
func plain(r *reply) bool {
	if r.resp.StatusCode != http.StatusOK || r.rest || r.err != nil || len(r.buf) == 0 || r.buf[0] != '{' {
		return false
	}
	for _, key := range suspicious {
		if bytes.Contains(r.buf, key) {
			return false
		}
	}
	for name := range r.resp.Header {
		if strings.Contains(name, "atelimit") || strings.HasPrefix(name, "X-Should") || name == "Retry-After" {
			return false
		}
	}
	return json.Valid(r.buf)
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
	contentType, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	switch strings.TrimSpace(contentType) {
	case "text/event-stream", "application/vnd.amazon.eventstream":
		return true
	}
	return false
}
