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

// act is what the provider does with one attempt.
type act struct {
	after  time.Duration // how long it takes
	reply  wire.Reply    // in words; a dated hint is counted from when it answers
	header string        // "name: value", beside what the dialect says
	breaks bool          // the connection, instead of a reply
	silent bool          // it never answers
	cut    bool          // the connection, within the body of an error
}

// drama is a day of one client, which makes some calls in a row, and its
// provider.
type drama struct {
	speak  string // the provider's dialect
	acts   []act  // the last repeats
	pauses []time.Duration
	stream bool
}

// life is what became of it.
type life struct {
	sent, answered []time.Duration // of each attempt, since the day began
	told           []wire.Reply    // what it was told, as the bytes say it
	calls          []call
	open           int // bodies that nobody has closed
}

// call is how many attempts a call made, and whether its client reports
// success.
type call struct {
	Attempts int
	OK       bool
}

// waits are the times from a reply to the next attempt of the same call, and
// the numbers of these attempts.
func (l *life) waits(each func(attempt int, wait time.Duration)) {
	first := 0
	for _, c := range l.calls {
		for i := first + 1; i < first+c.Attempts; i++ {
			each(i, l.sent[i]-l.answered[i-1])
		}
		first += c.Attempts
	}
}

// morning is when days begin: dates are read against it.
var morning = time.Date(2026, 10, 21, 7, 28, 0, 0, time.UTC)

// stage is the drama's provider behind HTTP, under the clock of its bubble.
type stage struct {
	drama *drama
	speak dialect.Dialect
	life  *life
}

// RoundTrip implements http.RoundTripper.
func (s *stage) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	a := s.drama.acts[min(len(s.life.sent), len(s.drama.acts)-1)]
	s.life.sent = append(s.life.sent, time.Since(morning))
	answers := time.After(a.after)
	if a.silent {
		answers = nil
	}
	select {
	case <-answers:
	case <-r.Context().Done():
		s.life.answered = append(s.life.answered, time.Since(morning))
		s.life.told = append(s.life.told, wire.Reply{RetryAfter: wire.NoHint})
		return nil, context.Cause(r.Context())
	}
	now := time.Since(morning)
	s.life.answered = append(s.life.answered, now)
	if a.breaks {
		s.life.told = append(s.life.told, wire.Reply{RetryAfter: wire.NoHint})
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	resp := respond(s.write(&a, now), r)
	s.life.open++
	resp.Body = &tracked{resp.Body, &s.life.open}
	return resp, nil
}

// respond is a message as a transport hands it over.
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

// write puts an act into bytes, and notes what they say.
func (s *stage) write(a *act, now time.Duration) *dialect.Message {
	m, reply := &dialect.Message{}, a.reply
	if reply.RetryAfter != wire.NoHint && reply.Spelled.Dated() {
		reply.RetryAfter += now
	}
	c := &dialect.Context{Model: "m", ID: "id", Epoch: morning.Unix(), Now: now}
	streamed := s.drama.stream && s.speak.Streams(&reply)
	if streamed {
		s.speak.WriteStream(m, c, &reply)
	} else {
		s.speak.Write(m, c, &reply)
	}
	if a.cut {
		m.Body, m.Broken = m.Body[:len(m.Body)/2], true
	}
	if name, value, ok := strings.Cut(a.header, ": "); ok {
		m.Headers = append(m.Headers, dialect.Header{Name: name, Value: value})
	}
	if in := m.Raw(); streamed {
		reply.RetryAfter = wire.NoHint
		s.life.told = append(s.life.told, reply)
	} else {
		s.life.told = append(s.life.told, s.speak.ParseReply(&in, dialect.ReadContext{Epoch: morning.Unix()}))
	}
	return m
}

// session is one client process: each use of it is a call.
type session func(ctx context.Context, stream bool) error

// perform lives a drama with a client.
func (d *drama) perform(t *testing.T, open func(http.RoundTripper) session) *life {
	l := &life{}
	synctest.Test(t, func(*testing.T) {
		time.Sleep(time.Until(morning))
		speak, _ := dialect.ByName(d.speak)
		client := open(&stage{drama: d, speak: speak, life: l})
		for _, pause := range d.pauses {
			time.Sleep(pause)
			before := len(l.sent)
			err := client(context.Background(), d.stream)
			l.calls = append(l.calls, call{len(l.sent) - before, err == nil})
		}
	})
	return l
}

// preset is a session of one of the presets, in production.
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

// verdicts hears what a strategy makes of calls.
type verdicts struct{ last live.Call }

func (*verdicts) Attempt(live.Attempt)         {}
func (*verdicts) Signal(strategies.SignalSpec) {}
func (v *verdicts) Call(c live.Call)           { v.last = c }
