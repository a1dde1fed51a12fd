package conformance

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/live"
)

// scriptedReply is what the provider does with one attempt.
type scriptedReply struct {
	after          time.Duration // until the reply
	reply          wire.Reply    // a dated hint counts from the time of the reply
	header         string        // a further header, "name: value"
	connectionLost bool          // instead of a reply
	silent         bool          // no reply
	truncated      bool          // the connection is lost within the body of an error
}

// script is the calls of one client, made in a row, and the replies of its provider.
type script struct {
	dialect string          // of the provider
	replies []scriptedReply // the last is repeated
	pauses  []time.Duration
	stream  bool
}

// runResult is the result of running a script.
type runResult struct {
	sent, answered []time.Duration // of each attempt, since the start
	received       []wire.Reply    // the replies, as parsed from their bytes
	calls          []call
	open           int // bodies that are not closed
}

// call is the number of attempts of a call, and whether the client reports success.
type call struct {
	Attempts int
	OK       bool
}

// waits calls each with the number of an attempt and the time between the reply before
// and that attempt of the same call.
func (l *runResult) waits(each func(attempt int, wait time.Duration)) {
	first := 0
	for _, c := range l.calls {
		for i := first + 1; i < first+c.Attempts; i++ {
			each(i, l.sent[i]-l.answered[i-1])
		}
		first += c.Attempts
	}
}

// startTime is the time at which scripts begin; dates are relative to it.
var startTime = time.Date(2026, 10, 21, 7, 28, 0, 0, time.UTC)

// scriptedServer is the provider of a script behind HTTP, in virtual time.
type scriptedServer struct {
	script  *script
	dialect dialect.Dialect
	result  *runResult
}

// RoundTrip implements http.RoundTripper.
func (s *scriptedServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	a := s.script.replies[min(len(s.result.sent), len(s.script.replies)-1)]
	s.result.sent = append(s.result.sent, time.Since(startTime))
	answers := time.After(a.after)
	if a.silent {
		answers = nil
	}
	select {
	case <-answers:
	case <-r.Context().Done():
		s.result.answered = append(s.result.answered, time.Since(startTime))
		s.result.received = append(s.result.received, wire.Reply{Hint: wire.Hint{Value: wire.NoHint}})
		return nil, context.Cause(r.Context())
	}
	now := time.Since(startTime)
	s.result.answered = append(s.result.answered, now)
	if a.connectionLost {
		s.result.received = append(s.result.received, wire.Reply{Hint: wire.Hint{Value: wire.NoHint}})
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	resp := respond(s.write(&a, now), r)
	s.result.open++
	resp.Body = &tracked{resp.Body, &s.result.open}
	return resp, nil
}

// respond returns a message as a transport does.
func respond(m *dialect.Message, r *http.Request) *http.Response {
	h := http.Header{}
	for _, f := range m.Headers {
		h.Set(f.Name, f.Value)
	}
	var body io.Reader = bytes.NewReader(m.Body)
	if m.Broken {
		body = io.MultiReader(body, iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	return &http.Response{
		StatusCode: m.Status, Status: http.StatusText(m.Status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(body), ContentLength: int64(m.Length), Request: r,
	}
}

// write writes a reply as bytes, and records their content.
func (s *scriptedServer) write(a *scriptedReply, now time.Duration) *dialect.Message {
	m, reply := &dialect.Message{}, a.reply
	if reply.Hint.Value != wire.NoHint && reply.Hint.Spelling.Dated() {
		reply.Hint.Value += now
	}
	c := &dialect.Context{Model: "m", ID: "id", Epoch: startTime.Unix(), Now: now}
	streamed := s.script.stream && s.dialect.Streams(&reply)
	if streamed {
		s.dialect.WriteStream(m, c, &reply)
	} else {
		s.dialect.Write(m, c, &reply)
	}
	if a.truncated {
		m.Body, m.Broken = m.Body[:len(m.Body)/2], true
	}
	if name, value, ok := strings.Cut(a.header, ": "); ok {
		m.Headers = append(m.Headers, dialect.Header{Name: name, Value: value})
	}
	if in := m.Raw(); streamed {
		reply.Hint.Value = wire.NoHint
		s.result.received = append(s.result.received, reply)
	} else {
		s.result.received = append(s.result.received, s.dialect.ParseReply(&in, dialect.ReadContext{Epoch: startTime.Unix()}))
	}
	return m
}

// session is one client process: each use of it is a call.
type session func(ctx context.Context, stream bool) error

// run runs a script with a client.
func (d *script) run(t *testing.T, open func(http.RoundTripper) session) *runResult {
	l := &runResult{}
	synctest.Test(t, func(*testing.T) {
		time.Sleep(time.Until(startTime))
		speak, _ := dialect.ByName(d.dialect)
		client := open(&scriptedServer{script: d, dialect: speak, result: l})
		for _, pause := range d.pauses {
			time.Sleep(pause)
			before := len(l.sent)
			err := client(context.Background(), d.stream)
			l.calls = append(l.calls, call{len(l.sent) - before, err == nil})
		}
	})
	return l
}

// preset returns a session of a preset, with strategies/live.
func preset(t require.TestingT, name, speak string, seed uint64) func(http.RoundTripper) session {
	def := definition(t, name)
	return func(rt http.RoundTripper) session {
		var heard verdicts
		transport := live.Must(live.Config{Strategy: def, Base: rt, Seed: seed, Dialect: speak, Recorder: &heard})
		return func(ctx context.Context, _ bool) error {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://herd.test/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
			if err != nil {
				return err
			}
			if resp, err := transport.RoundTrip(r); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			if heard.last.Reason != strategies.Succeeded {
				return &live.Error{Reason: heard.last.Reason, Class: heard.last.Class}
			}
			return nil
		}
	}
}

// verdicts records the results of calls.
type verdicts struct{ last live.Call }

func (*verdicts) Attempt(live.Attempt)         {}
func (*verdicts) Signal(strategies.SignalSpec) {}
func (v *verdicts) Call(c live.Call)           { v.last = c }
