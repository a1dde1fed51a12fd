package live

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/presets"
)

// scriptedReply is what the provider does with one attempt.
type scriptedReply struct {
	after          time.Duration
	reply          wire.Reply
	connectionLost bool // instead of a reply
}

// script is a provider's replies, and a client that makes some calls in a row.
type script struct {
	replies []scriptedReply // the last is repeated
	calls   int
	seed    uint64
	// patience is how long the caller waits for each call; 0 is no limit.
	patience time.Duration
}

func (d *script) reply(i int) *scriptedReply { return &d.replies[min(i, len(d.replies)-1)] }

// tracer records the events and decisions of a program.
type tracer struct {
	inner strategies.Strategy
	lines []string
	asks  wire.Demand // of the first call
}

// Next implements strategies.Strategy.
func (t *tracer) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	var outcome string
	if e.Outcome != nil {
		outcome = fmt.Sprintf(" %v after=%v sent=%v", e.Outcome.Class, e.Outcome.RetryAfter, e.SentAt)
	}
	if t.lines == nil {
		t.asks = c.Demand
	}
	id := c.ID
	d := t.inner.Next(now, c, e)
	t.lines = append(t.lines, fmt.Sprintf("%v call %d: event %d attempt %d%s -> %d after=%v take=%v end=%v to=%v",
		now, id, e.Kind, e.Attempt, outcome, d.Kind, d.After, d.Take, d.End, c.Target))
	return d
}

// compile builds the program of a definition with a tracer.
func compile(t require.TestingT, def strategies.Definition) (*strategies.Program, *strategies.SharedMemory, *tracer) {
	commons := strategies.NewSharedMemory()
	p, err := strategies.Compile(def, commons)
	require.NoError(t, err)
	trace := &tracer{inner: p.Root}
	p.Root = trace
	return p, commons, trace
}

// scriptedProvider is the provider of the script in the simulator.
type scriptedProvider struct {
	script  *script
	arrived int
}

func (s *scriptedProvider) NextTick() time.Duration { return 1<<63 - 1 }

func (s *scriptedProvider) Step(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	if in.Kind != wire.Arrive {
		return out
	}
	next := s.script.reply(s.arrived)
	s.arrived++
	e := wire.Effect{Kind: wire.Replied, Ticket: in.Ticket, After: next.after, Reply: next.reply}
	if next.connectionLost {
		e.Kind = wire.LostConnection
	}
	return append(out, e)
}

// runSim returns the trace of the script in the simulator, with calls of this demand.
func runSim(t require.TestingT, def strategies.Definition, d *script, asks wire.Demand) []string {
	p, commons, trace := compile(t, def)
	x := sim.Experiment{
		Fleets: []sim.Fleet{{
			Name: "one", Program: p, Patience: d.patience,
			Traffic: traffic.Traffic{Clients: 1, Calls: d.calls, Size: asks},
		}},
		Provider: &scriptedProvider{script: d}, Rand: draw.New(d.seed), Commons: commons,
		Plan: metrics.Plan{Horizon: 1000 * time.Hour, Bin: time.Hour},
	}
	_, err := x.Run(context.Background())
	require.NoError(t, err)
	return trace.lines
}

// stepClock is a fake clock that can advance to the next timer.
type stepClock struct {
	*clockwork.FakeClock
	mu  sync.Mutex
	due map[time.Time]bool
}

func (s *stepClock) note(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due[s.Now().Add(d)] = true
}

func (s *stepClock) NewTimer(d time.Duration) clockwork.Timer {
	s.note(d)
	return s.FakeClock.NewTimer(d)
}

func (s *stepClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	s.note(d)
	return s.FakeClock.AfterFunc(d, f)
}

func (s *stepClock) After(d time.Duration) <-chan time.Time {
	s.note(d)
	return s.FakeClock.After(d)
}

// advance advances to the time of the next timer, if there is one.
func (s *stepClock) advance() bool {
	s.mu.Lock()
	now := s.Now()
	var next time.Time
	for at := range s.due {
		if !at.After(now) {
			delete(s.due, at)
		} else if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	s.mu.Unlock()
	if next.IsZero() {
		return false
	}
	s.FakeClock.Advance(next.Sub(now))
	return true
}

// scriptedServer is the provider of the script behind HTTP.
type scriptedServer struct {
	script  *script
	clock   clockwork.Clock
	epoch   int64
	start   time.Time
	dialect *dialect.Dialect

	mu      sync.Mutex
	arrived int
}

// RoundTrip implements http.RoundTripper.
func (a *scriptedServer) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	next := a.script.reply(a.arrived)
	a.arrived++
	a.mu.Unlock()
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	if next.after > 0 {
		select {
		case <-a.clock.After(next.after):
		case <-r.Context().Done():
			return nil, context.Cause(r.Context())
		}
	}
	if next.connectionLost {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	var m dialect.Message
	a.dialect.Write(&m, &dialect.Context{Model: "m", ID: "id", Epoch: a.epoch, Now: a.clock.Since(a.start)}, &next.reply)
	h := http.Header{}
	for _, f := range m.Headers {
		h.Add(f.Name, f.Value)
	}
	var body io.Reader = strings.NewReader(string(m.Body))
	if m.Broken {
		body = io.MultiReader(body, iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	return &http.Response{StatusCode: m.Status, Header: h, Body: io.NopCloser(body), ContentLength: int64(m.Length), Request: r}, nil
}

// otherRegion is the base URL of all regions but the first.
var otherRegion = &url.URL{Scheme: "http", Host: "elsewhere.test"}

// runLive returns the trace of the script in live, on a fake clock, and the demand
// of its calls.
func runLive(t *testing.T, rt require.TestingT, def strategies.Definition, d *script, spoken *dialect.Dialect) (lines []string, asks wire.Demand) {
	synctest.Test(t, func(*testing.T) {
		clock := &stepClock{FakeClock: clockwork.NewFakeClockAt(time.Date(2026, 10, 21, 7, 28, 0, 0, time.UTC)), due: map[time.Time]bool{}}
		base := &scriptedServer{script: d, clock: clock, epoch: clock.Now().Unix(), start: clock.Now(), dialect: spoken}
		transport, err := New(withFunctions(Config{
			Strategy: def, Base: base, Clock: clock, Seed: 1, Dialect: spoken.Name,
			Models: []string{"m", "m1", "m2"}, Keys: []string{"k", "k1", "k2"}, Regions: []*url.URL{nil, otherRegion, otherRegion},
		}))
		require.NoError(rt, err)
		defer transport.Close()
		transport.rand = draw.New(d.seed).For(0) // as the simulator's first fleet
		trace := &tracer{inner: transport.program.Root}
		transport.program.Root = trace
		done := make(chan struct{})
		life, end := context.WithCancel(context.Background())
		defer end()
		go func() {
			defer close(done)
			for range d.calls {
				ctx, cancel := context.WithCancelCause(life)
				if d.patience > 0 {
					defer clock.AfterFunc(d.patience, func() { cancel(context.DeadlineExceeded) }).Stop()
				}
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://herd.test/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[]}`))
				if err != nil {
					panic(err)
				}
				resp, err := transport.RoundTrip(req)
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				cancel(nil)
				if life.Err() != nil {
					return
				}
			}
		}()
		for {
			synctest.Wait()
			select {
			case <-done:
				lines, asks = trace.lines, trace.asks
				return
			default:
			}
			if !clock.advance() { // a deadlock, which some specimens have
				lines, asks = slices.Clone(trace.lines), trace.asks
				end()
				<-done
				return
			}
		}
	})
	return lines, asks
}

// asWritten returns the reply as it is parsed after being written in a dialect. The
// spelling of a hint matters to models of real clients; a reply that spells it twice
// is parsed as the finer one.
func asWritten(spoken *dialect.Dialect, r *wire.Reply) wire.Reply {
	image := spoken.Expressible(*r, false)
	var m dialect.Message
	spoken.Write(&m, &dialect.Context{Model: "m", ID: "id", Epoch: 2e9}, &image)
	in := m.Raw()
	got := spoken.ParseReply(&in, dialect.ReadContext{Epoch: 2e9})
	got.Class = r.Class
	return got
}

// drawScript draws a script whose last reply is a success, so that all calls end.
func drawScript(r *rapid.T, spoken *dialect.Dialect) *script {
	d := &script{calls: rapid.IntRange(1, 3).Draw(r, "calls"), seed: rapid.Uint64().Draw(r, "seed")}
	forms := spoken.Forms()
	for i := range rapid.IntRange(0, 8).Draw(r, "failures") {
		// Odd nanoseconds avoid simultaneous events.
		s := scriptedReply{after: time.Duration(rapid.IntRange(0, 2000).Draw(r, "ms"))*time.Millisecond + time.Duration(2*i+1)}
		class := rapid.SampledFrom([]wire.Class{wire.Rate, wire.TokenRate, wire.Concurrency, wire.Overloaded, wire.Overloaded, wire.ServerError, wire.Quota, wire.Auth, wire.BadRequest}).Draw(r, "class")
		f := forms[class]
		s.reply = wire.Reply{Class: class, Shown: f.Shown, Status: f.Status, Body: f.Body, Code: f.Code, Words: f.Words, Hint: wire.Hint{Spelling: f.Spelling, Value: wire.NoHint}, Marks: f.Marks}
		if rapid.Bool().Draw(r, "hint") {
			s.reply.Hint.Value = time.Duration(rapid.IntRange(0, 40).Draw(r, "seconds")) * time.Second
		}
		s.reply = asWritten(spoken, &s.reply)
		s.connectionLost = rapid.IntRange(0, 9).Draw(r, "fate") == 0
		d.replies = append(d.replies, s)
	}
	good := wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}, Tokens: 3}
	d.replies = append(d.replies, scriptedReply{after: 300*time.Millisecond + 99, reply: asWritten(spoken, &good)})
	if rapid.IntRange(0, 3).Draw(r, "patient") == 0 {
		d.patience = time.Duration(rapid.IntRange(1, 60_000).Draw(r, "patience"))*time.Millisecond + 500
	}
	return d
}

// With the same replies at the same times, every strategy decides in live as in the
// simulator.
func TestDecisionsAsInSimulator(t *testing.T) {
	known := presets.Knowledge{Rate: 3, Per: time.Second, Concurrency: 6}
	for _, b := range specimens() {
		t.Run(b.Name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				spoken := dialect.All()[rapid.IntRange(0, len(dialect.All())-1).Draw(r, "dialect")]
				d := drawScript(r, &spoken)
				define := func() strategies.Definition {
					def := b.Define(known)
					def.Name = b.Name
					return def
				}
				got, asks := runLive(t, r, define(), d, &spoken)
				require.Equal(r, runSim(r, define(), d, asks), got)
			})
		})
	}
}
