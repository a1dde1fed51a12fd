package live

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/layers"
	"herdlab/strategies/presets"
)

// concurrentScript is a client with overlapping calls: their arrivals, and the
// provider's reply to each attempt.
type concurrentScript struct {
	arrivals []time.Duration
	replies  [][]scriptedReply // of each call; the last is repeated
	stream   bool
	gap      time.Duration // between a stream's first token and its end
	patience time.Duration
	timeout  time.Duration // of attempts, 0 for none
	seed     uint64
	dialect  *dialect.Dialect
}

func (r *concurrentScript) reply(call uint64, attempt int) *scriptedReply {
	s := r.replies[call]
	return &s[min(attempt, len(s)-1)]
}

// streams reports whether a reply is a stream.
func (r *concurrentScript) streams(s *scriptedReply) bool {
	return r.stream && s.reply.Class == wire.OK
}

// drawConcurrentScript draws a script. Odd nanoseconds avoid simultaneous events.
func drawConcurrentScript(dice *rand.Rand) *concurrentScript {
	all := dialect.All()
	r := &concurrentScript{seed: dice.Uint64(), dialect: &all[dice.IntN(len(all))], stream: dice.IntN(2) == 0, gap: 400*time.Millisecond + 13}
	if dice.IntN(3) == 0 {
		r.patience = time.Duration(dice.IntN(30_000))*time.Millisecond + 1_000_500
	}
	if dice.IntN(2) == 0 {
		r.timeout = time.Duration(700+dice.IntN(1500))*time.Millisecond + 250 // longer than any answer takes
	}
	forms := r.dialect.Forms()
	at := time.Duration(0)
	for i := range 2 + dice.IntN(8) {
		at += time.Duration(dice.IntN(500))*time.Millisecond + 1_000_003
		r.arrivals = append(r.arrivals, at)
		var scenes []scriptedReply
		for k := range dice.IntN(4) {
			s := scriptedReply{after: time.Duration(dice.IntN(2000))*time.Millisecond + time.Duration(20_011*i+1009*k+7)}
			f := forms[wire.Rate+wire.Class(dice.IntN(5))]
			s.reply = wire.Reply{Class: f.Shown, Shown: f.Shown, Status: f.Status, Body: f.Body, Code: f.Code, Words: f.Words, Hint: wire.Hint{Spelling: f.Spelling, Value: wire.NoHint}, Marks: f.Marks}
			if dice.IntN(2) == 0 {
				s.reply.Hint.Value = time.Duration(dice.IntN(20)) * time.Second
			}
			s.reply = asWritten(r.dialect, &s.reply)
			s.connectionLost = dice.IntN(6) == 0
			scenes = append(scenes, s)
		}
		good := wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}, Tokens: 3}
		r.replies = append(r.replies, append(scenes, scriptedReply{after: time.Duration(dice.IntN(250))*time.Millisecond + time.Duration(30_011*i+99), reply: asWritten(r.dialect, &good)}))
	}
	return r
}

// definition returns the strategy for the script.
func (r *concurrentScript) definition(b presets.Builtin) strategies.Definition {
	def := b.Define(presets.Knowledge{Rate: 3, Per: time.Second, Concurrency: 4})
	def.Name = b.Name
	if r.timeout > 0 {
		def.Layers = append(def.Layers[:len(def.Layers):len(def.Layers)], layers.AttemptTimeout{After: r.timeout})
	}
	return def
}

// Step implements sim.Provider.
func (r *concurrentScript) Step(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	if in.Kind != wire.Arrive {
		return out
	}
	s := r.reply(in.Request.Call, int(in.Request.Attempt)-1)
	e := wire.Effect{Kind: wire.Replied, Ticket: in.Ticket, After: s.after, Reply: s.reply}
	switch {
	case s.connectionLost:
		e.Kind = wire.LostConnection
	case r.streams(s):
		head := e
		head.Kind, head.Reply = wire.Head, wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}}
		out = append(out, head)
		e.After += r.gap
	}
	return append(out, e)
}

func (*concurrentScript) NextTick() time.Duration { return strategies.Never }

// traceLine is a parsed line of a trace.
type traceLine struct {
	at   time.Duration
	call int
	kind strategies.EventKind
}

func parseTraceLine(t *testing.T, l string) (r traceLine) {
	at, rest, _ := strings.Cut(l, " ")
	_, err := fmt.Sscanf(rest, "call %d: event %d", &r.call, &r.kind)
	require.NoError(t, err)
	r.at, err = time.ParseDuration(at)
	require.NoError(t, err)
	return r
}

// tracesByCall returns the part of a trace before a time, by call.
func tracesByCall(t *testing.T, lines []string, calls int, until time.Duration) [][]string {
	by := make([][]string, calls)
	for _, l := range lines {
		if r := parseTraceLine(t, l); r.at < until {
			by[r.call] = append(by[r.call], l)
		}
	}
	return by
}

// firstTie returns the first time with simultaneous events of two calls of which
// neither causes the other (as releasing a permit or ending a flight does). The
// order of such events is not defined.
func firstTie(t *testing.T, lines []string) time.Duration {
	var last traceLine
	for i, l := range lines {
		r := parseTraceLine(t, l)
		if r.kind == strategies.Admitted || r.kind == strategies.Joined {
			continue
		}
		if i > 0 && r.at == last.at && r.call != last.call {
			return r.at
		}
		last = r
	}
	return strategies.Never
}

func (r *concurrentScript) runSim(t *testing.T, def strategies.Definition, asks wire.Demand) []string {
	p, commons, trace := compile(t, def)
	x := sim.Experiment{
		Fleets: []sim.Fleet{{
			Name: "one", Program: p, Patience: r.patience, Stream: r.stream,
			Traffic: traffic.Traffic{Clients: 1, Arrivals: traffic.At(asks, r.arrivals...)},
		}},
		Provider: r, Rand: draw.New(r.seed), Commons: commons,
		Plan: metrics.Plan{Horizon: 1000 * time.Hour, Bin: time.Hour},
	}
	_, err := x.Run(context.Background())
	require.NoError(t, err)
	return trace.lines
}

// concurrentServer is the provider of the script behind HTTP.
type concurrentServer struct {
	*concurrentScript
	clock    clockwork.Clock
	epoch    int64
	start    time.Time
	mu       sync.Mutex
	attempts map[string]int
}

// RoundTrip implements http.RoundTripper.
func (h *concurrentServer) RoundTrip(r *http.Request) (*http.Response, error) {
	call := r.Header.Get("X-Call")
	h.mu.Lock()
	n := h.attempts[call]
	h.attempts[call]++
	h.mu.Unlock()
	number, err := strconv.Atoi(call)
	if err != nil {
		return nil, err
	}
	s := h.reply(uint64(number), n)
	r.Body.Close()
	select {
	case <-h.clock.After(s.after):
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
	if s.connectionLost {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	var m dialect.Message
	at := &dialect.Context{Model: "m", ID: "id", Epoch: h.epoch, Now: h.clock.Since(h.start)}
	var body io.ReadCloser
	if h.streams(s) {
		h.dialect.Head(&m, at, &s.reply)
		first := h.dialect.Token(h.dialect.Begin(nil, at, &s.reply), at, &s.reply, 0)
		var rest []byte
		for i := 1; i < 3; i++ {
			rest = h.dialect.Token(rest, at, &s.reply, i)
		}
		body = &pausedStream{r.Context(), h.clock, h.gap, first, h.dialect.End(rest, at, &s.reply, 3)}
		m.Length = -1
	} else {
		h.dialect.Write(&m, at, &s.reply)
		body = io.NopCloser(strings.NewReader(string(m.Body)))
	}
	header := http.Header{}
	for _, f := range m.Headers {
		header.Add(f.Name, f.Value)
	}
	return &http.Response{StatusCode: m.Status, Header: header, Body: body, ContentLength: int64(m.Length), Request: r}, nil
}

// pausedStream is a stream with a pause in the middle.
type pausedStream struct {
	ctx         context.Context
	clock       clockwork.Clock
	gap         time.Duration
	first, rest []byte
}

func (p *pausedStream) Read(b []byte) (int, error) {
	switch {
	case len(p.first) > 0:
		n := copy(b, p.first)
		p.first = p.first[n:]
		return n, nil
	case p.gap > 0:
		select {
		case <-p.clock.After(p.gap):
			p.gap = 0
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		}
	case len(p.rest) == 0:
		return 0, io.EOF
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (*pausedStream) Close() error { return nil }

func (r *concurrentScript) runLive(t *testing.T, def strategies.Definition) (lines []string, asks wire.Demand) {
	synctest.Test(t, func(t *testing.T) {
		clock := &stepClock{FakeClock: clockwork.NewFakeClockAt(time.Date(2026, 10, 21, 7, 28, 0, 0, time.UTC)), due: map[time.Time]bool{}}
		base := &concurrentServer{concurrentScript: r, clock: clock, epoch: clock.Now().Unix(), start: clock.Now(), attempts: map[string]int{}}
		tr, err := New(withFunctions(Config{
			Strategy: def, Base: base, Clock: clock, Seed: 1, Dialect: r.dialect.Name,
			Models: []string{"m", "m1", "m2"}, Keys: []string{"k", "k1", "k2"}, Regions: []*url.URL{nil, otherRegion, otherRegion},
		}))
		require.NoError(t, err)
		defer tr.Close()
		tr.rand = draw.New(r.seed).For(0) // as the simulator's first fleet
		trace := &tracer{inner: tr.program.Root}
		tr.program.Root = trace
		life, end := context.WithCancel(context.Background())
		defer end()
		var wg sync.WaitGroup
		for i, at := range r.arrivals {
			wg.Go(func() {
				<-clock.After(at)
				ctx, cancel := context.WithCancelCause(life)
				defer cancel(nil)
				if r.patience > 0 {
					defer clock.AfterFunc(r.patience, func() { cancel(context.DeadlineExceeded) }).Stop()
				}
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://herd.test/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[]}`))
				if err != nil {
					panic(err)
				}
				req.Header.Set("X-Call", strconv.Itoa(i))
				if resp, err := tr.RoundTrip(req); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			})
		}
		over := make(chan struct{})
		go func() { wg.Wait(); close(over) }()
		for {
			synctest.Wait()
			select {
			case <-over:
				lines, asks = append(lines, trace.lines...), trace.asks
				return
			default:
			}
			if !clock.advance() { // a deadlock, which some specimens have
				lines, asks = append(lines, trace.lines...), trace.asks
				end()
				<-over
				return
			}
		}
	})
	return lines, asks
}

// With queues, streams, timeouts of attempts and patience of callers, the decisions
// for concurrent calls are the same as in the simulator.
func TestConcurrentCallsAsInSimulator(t *testing.T) {
	days := 8
	if os.Getenv("HERDLAB_LONG") != "" {
		days = 200
	}
	for _, b := range specimens() {
		t.Run(b.Name, func(t *testing.T) {
			untied := 0
			for day := range days {
				r := drawConcurrentScript(rand.New(rand.NewPCG(uint64(day), 99)))
				if p, _, _ := compile(t, r.definition(b)); p.Races || p.Remembers || len(p.Flights) > 0 || len(p.Pieces) > 0 {
					r.stream = false // a stream can be neither hedged nor shared
				}
				lines, asks := r.runLive(t, r.definition(b))
				all := r.runSim(t, r.definition(b), asks)
				until := firstTie(t, all)
				want, got := tracesByCall(t, all, len(r.arrivals), until), tracesByCall(t, lines, len(r.arrivals), until)
				for i := range want {
					require.Equal(t, want[i], got[i], "day %d, call %d, %s", day, i, r.dialect.Name)
				}
				if until == strategies.Never {
					untied++
				}
			}
			require.Greater(t, untied, days/4, "too few days were compared to their end")
		})
	}
}
