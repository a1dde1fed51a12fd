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
)

// scene is what the provider does with one attempt.
type scene struct {
	after  time.Duration
	reply  wire.Reply
	breaks bool // the connection, instead of a reply
}

// day is a script for a provider, and a client that makes some calls in a row.
type day struct {
	scenes []scene // the last repeats
	calls  int
	seed   uint64
	// patience is how long the caller waits for each call; 0 for ever.
	patience time.Duration
}

func (d *day) scene(i int) *scene { return &d.scenes[min(i, len(d.scenes)-1)] }

// traced writes down what a program is told and what it decides.
type traced struct {
	inner strategies.Strategy
	lines []string
	asks  wire.Demand // of the first call
}

// Next implements strategies.Strategy.
func (t *traced) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	var told string
	if e.Outcome != nil {
		told = fmt.Sprintf(" %v after=%v sent=%v", e.Outcome.Class, e.Outcome.RetryAfter, e.SentAt)
	}
	if t.lines == nil {
		t.asks = c.Demand
	}
	id := c.ID
	d := t.inner.Next(now, c, e)
	t.lines = append(t.lines, fmt.Sprintf("%v call %d: event %d attempt %d%s -> %d after=%v take=%v end=%v to=%v",
		now, id, e.Kind, e.Attempt, told, d.Kind, d.After, d.Take, d.End, c.Target))
	return d
}

// compile builds the program of a definition with everything traced.
func compile(t require.TestingT, def strategies.Definition) (*strategies.Program, *strategies.Commons, *traced) {
	commons := strategies.NewCommons()
	p, err := strategies.Compile(def, commons)
	require.NoError(t, err)
	trace := &traced{inner: p.Root}
	p.Root = trace
	return p, commons, trace
}

// stage is the day's provider in the simulator.
type stage struct {
	day     *day
	arrived int
}

func (s *stage) NextTick() time.Duration { return 1<<63 - 1 }

func (s *stage) Step(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	if in.Kind != wire.Arrive {
		return out
	}
	next := s.day.scene(s.arrived)
	s.arrived++
	e := wire.Effect{Kind: wire.Replied, Ticket: in.Ticket, After: next.after, Reply: next.reply}
	if next.breaks {
		e.Kind = wire.Broke
	}
	return append(out, e)
}

// simulated is the trace of a day in the simulator, whose calls ask for so much.
func simulated(t require.TestingT, def strategies.Definition, d *day, asks wire.Demand) []string {
	p, commons, trace := compile(t, def)
	x := sim.Experiment{
		Fleets: []sim.Fleet{{
			Name: "one", Program: p, Patience: d.patience,
			Traffic: traffic.Traffic{Clients: 1, Calls: d.calls, Size: asks},
		}},
		Provider: &stage{day: d}, Rand: draw.New(d.seed), Commons: commons,
		Plan: metrics.Plan{Horizon: 1000 * time.Hour, Bin: time.Hour},
	}
	_, err := x.Run(context.Background())
	require.NoError(t, err)
	return trace.lines
}

// stepper is a fake clock that knows when somebody is due.
type stepper struct {
	*clockwork.FakeClock
	mu  sync.Mutex
	due map[time.Time]bool
}

func (s *stepper) note(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due[s.Now().Add(d)] = true
}

func (s *stepper) NewTimer(d time.Duration) clockwork.Timer {
	s.note(d)
	return s.FakeClock.NewTimer(d)
}

func (s *stepper) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	s.note(d)
	return s.FakeClock.AfterFunc(d, f)
}

func (s *stepper) After(d time.Duration) <-chan time.Time {
	s.note(d)
	return s.FakeClock.After(d)
}

// advance goes to the next time at which somebody is due.
func (s *stepper) advance() bool {
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

// actor is the day's provider behind HTTP.
type actor struct {
	day   *day
	clock clockwork.Clock
	epoch int64
	start time.Time
	speak *dialect.Dialect

	mu      sync.Mutex
	arrived int
}

// RoundTrip implements http.RoundTripper.
func (a *actor) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	next := a.day.scene(a.arrived)
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
	if next.breaks {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	var m dialect.Message
	a.speak.Write(&m, &dialect.Context{Model: "m", ID: "id", Epoch: a.epoch, Now: a.clock.Since(a.start)}, &next.reply)
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

// elsewhere is where other regions are, for a base that does not care.
var elsewhere = &url.URL{Scheme: "http", Host: "elsewhere.test"}

// lived is the trace of the same day in production, on a fake clock, and what its
// calls ask for.
func lived(t *testing.T, rt require.TestingT, def strategies.Definition, d *day, speak *dialect.Dialect) (lines []string, asks wire.Demand) {
	synctest.Test(t, func(*testing.T) {
		clock := &stepper{FakeClock: clockwork.NewFakeClockAt(time.Date(2026, 10, 21, 7, 28, 0, 0, time.UTC)), due: map[time.Time]bool{}}
		base := &actor{day: d, clock: clock, epoch: clock.Now().Unix(), start: clock.Now(), speak: speak}
		transport, err := New(hooks(Config{
			Strategy: def, Base: base, Clock: clock, Seed: 1, Dialect: speak.Name,
			Models: []string{"m", "m1", "m2"}, Keys: []string{"k", "k1", "k2"}, Regions: []*url.URL{nil, elsewhere, elsewhere},
		}))
		require.NoError(rt, err)
		defer transport.Close()
		transport.rand = draw.New(d.seed).For(0) // as the simulator's first fleet
		trace := &traced{inner: transport.program.Root}
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
			if !clock.advance() { // a deadlock, for ever: some strategies are here to show one
				lines, asks = slices.Clone(trace.lines), trace.asks
				end()
				<-done
				return
			}
		}
	})
	return lines, asks
}

// spoken is a reply as its bytes say it. Models of real clients go by how a hint
// is spelled, and where one is spelled in two ways the bytes are read for the
// finer.
func spoken(speak *dialect.Dialect, r *wire.Reply) wire.Reply {
	image := speak.Image(*r, false)
	var m dialect.Message
	speak.Write(&m, &dialect.Context{Model: "m", ID: "id", Epoch: 2e9}, &image)
	in := m.Received()
	got := speak.Parse(&in, dialect.Reading{Epoch: 2e9})
	got.Class = r.Class
	return got
}

// anyDay draws a day that ends well in the end, so that it ends.
func anyDay(r *rapid.T, speak *dialect.Dialect) *day {
	d := &day{calls: rapid.IntRange(1, 3).Draw(r, "calls"), seed: rapid.Uint64().Draw(r, "seed")}
	forms := speak.Forms()
	for i := range rapid.IntRange(0, 8).Draw(r, "failures") {
		// Odd nanoseconds, so that nothing falls together by chance.
		s := scene{after: time.Duration(rapid.IntRange(0, 2000).Draw(r, "ms"))*time.Millisecond + time.Duration(2*i+1)}
		class := rapid.SampledFrom([]wire.Class{wire.Rate, wire.TokenRate, wire.Concurrency, wire.Overloaded, wire.Overloaded, wire.ServerError, wire.Quota, wire.Auth, wire.BadRequest}).Draw(r, "class")
		f := forms[class]
		s.reply = wire.Reply{Class: class, Shown: f.Shown, Status: f.Status, Body: f.Body, Code: f.Code, Words: f.Words, Spelled: f.Spelled, Marks: f.Marks, RetryAfter: wire.NoHint}
		if rapid.Bool().Draw(r, "hint") {
			s.reply.RetryAfter = time.Duration(rapid.IntRange(0, 40).Draw(r, "seconds")) * time.Second
		}
		s.reply = spoken(speak, &s.reply)
		s.breaks = rapid.IntRange(0, 9).Draw(r, "fate") == 0
		d.scenes = append(d.scenes, s)
	}
	good := wire.Reply{Status: 200, RetryAfter: wire.NoHint, Tokens: 3}
	d.scenes = append(d.scenes, scene{after: 300*time.Millisecond + 99, reply: spoken(speak, &good)})
	if rapid.IntRange(0, 3).Draw(r, "patient") == 0 {
		d.patience = time.Duration(rapid.IntRange(1, 60_000).Draw(r, "patience"))*time.Millisecond + 500
	}
	return d
}

// One strategy, two worlds: told the same replies at the same times, every
// strategy decides in production what it decides in the simulator.
func TestOneStrategyTwoWorlds(t *testing.T) {
	known := strategies.Knowledge{Rate: 3, Per: time.Second, Concurrency: 6}
	for _, b := range cast() {
		t.Run(b.Name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				speak := dialect.All()[rapid.IntRange(0, len(dialect.All())-1).Draw(r, "dialect")]
				d := anyDay(r, &speak)
				define := func() strategies.Definition {
					def := b.Define(known)
					def.Name = b.Name
					return def
				}
				got, asks := lived(t, r, define(), d, &speak)
				require.Equal(r, simulated(r, define(), d, asks), got)
			})
		})
	}
}
