package scenarios_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/scenarios"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// refusalLog is a provider that records its refusals.
type refusalLog struct {
	sim.Provider
	arrivals, refusals int
	first              int             // the number of the first refused request; 0 if there is none
	touched            map[uint64]bool // the calls that were refused at least once
	replies            []wire.Reply    // of refusals
}

func (g *refusalLog) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	n := len(out)
	out = g.Provider.Step(now, in, out)
	if in.Kind == wire.Arrive {
		g.arrivals++
		if e := &out[n]; e.Kind == wire.Replied {
			if g.refusals++; g.first == 0 {
				g.first = g.arrivals
			}
			g.touched[in.Request.Call] = true
			g.replies = append(g.replies, e.Reply)
		}
	}
	return out
}

// workload is the traffic of a test and its strategy.
type workload struct {
	fleets []sim.Fleet
	layers []strategies.Layer // of every fleet; without layers a call has one attempt
}

// runWorkload runs a workload with the provider of the built-in p14003.
func runWorkload(t *testing.T, w workload) (*refusalLog, *metrics.Report) {
	t.Helper()
	program := compiled(t, w.layers...)
	for i := range w.fleets {
		w.fleets[i].Program = program
	}
	return runFleets(t, w.fleets)
}

func compiled(t *testing.T, layers ...strategies.Layer) *strategies.Program {
	t.Helper()
	p, err := strategies.Compile(strategies.Definition{Name: "test", Layers: layers}, nil)
	require.NoError(t, err)
	return p
}

// runFleets runs fleets that have their programs.
func runFleets(t *testing.T, fleets []sim.Fleet) (*refusalLog, *metrics.Report) {
	t.Helper()
	s, err := scenarios.Builtin("p14003")
	require.NoError(t, err)
	x, err := s.Experiment(0, 1)
	require.NoError(t, err)
	g := &refusalLog{Provider: x.Provider, touched: map[uint64]bool{}}
	x.Provider, x.Fleets, x.Plan.Horizon = g, fleets, 24*time.Hour
	r, err := x.Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, r.Belief.Calls, r.Belief.Succeeded+r.Belief.Failed, "no call is pending")
	return g, r
}

// workers returns n threads, started 1 ms apart, that make the given number of
// calls each and pause between them.
func workers(n, calls int, pause time.Duration) (all []sim.Fleet) {
	for i := range n {
		all = append(all, sim.Fleet{Name: "worker", Traffic: traffic.Traffic{
			Clients: 1, Calls: calls, Start: draw.Const(time.Duration(i) * time.Millisecond), Think: draw.Const(pause),
		}})
	}
	return all
}

// batch is an arrival process of calls that wait for a thread pool. The first call
// of each thread arrives at from + apart × its number, all others with the last of
// these.
type batch struct {
	size, threads int
	from, apart   time.Duration
}

func (b batch) Next(_ draw.Rand, i uint64, _ time.Duration) (time.Duration, bool) {
	return b.from + time.Duration(min(int(i), b.threads-1))*b.apart, int(i) < b.size
}

func (batch) Demand(draw.Rand, uint64) wire.Demand { return wire.Demand{} }

// fleet returns a fleet with the calls of the batch.
func (b batch) fleet() sim.Fleet {
	return sim.Fleet{Name: "pool", Traffic: traffic.Traffic{Clients: 1, Arrivals: b}}
}

// threads returns a semaphore of n permits, the size of a thread pool.
func threads(n int) strategies.Layer {
	return layers.Concurrency{Permits: int64(n), Scope: strategies.PerFleet}
}

// byHint retries after the hint of 3 s, without a bound.
var byHint = layers.Retry{Backoff: backoffs.Fixed{}}

// The first observations of the reference experiment on 14003: one worker that
// pauses is refused by the long limit, five that do not pause by the joint limit,
// and five that pause only by the long one. Every run has the same result.
func TestP14003First(t *testing.T) {
	for name, c := range map[string]struct {
		fleets []sim.Fleet
		first  int
	}{
		"one worker that pauses 200 ms": {workers(1, 300, 200*time.Millisecond), 211},
		"five that do not pause":        {workers(5, 60, 0), 17},
		"five that pause 200 ms":        {workers(5, 60, 200*time.Millisecond), 211},
	} {
		for range 2 {
			g, _ := runWorkload(t, workload{fleets: c.fleets})
			require.Equal(t, c.first, g.first, name)
		}
	}
}

// Every refusal is HTTP 200 with the same body, whichever limit refused: no reply
// has the 210.
func TestP14003Body(t *testing.T) {
	seen := map[wire.Class]int{}
	for _, fleets := range [][]sim.Fleet{workers(1, 300, 0), workers(20, 3, 0)} {
		g, _ := runWorkload(t, workload{fleets: fleets})
		for _, r := range g.replies {
			seen[r.Class]++
			r.Class = wire.OK
			require.Equal(t, wire.Reply{
				Status: 200, Body: wire.CodeBody, Code: wire.Code14003, Hint: wire.Hint{Value: 3 * time.Second, Spelling: wire.BodySeconds}, Limit: 20,
				Shown: wire.Rate, Words: wire.MentionsLimit,
			}, r)
		}
	}
	require.Len(t, seen, 2)
	require.NotZero(t, seen[wire.Rate])
	require.NotZero(t, seen[wire.Concurrency])
}

// Sixty requests of c threads that start together, one attempt each. Five threads
// that start 1 ms apart have 7 failures, not 6. The threads of the reference started
// together here, and 1 ms apart in TestP14003First.
func TestP14003Polling(t *testing.T) {
	for c, failures := range map[int]int{1: 0, 5: 6, 10: 42, 20: 50} {
		g, _ := runWorkload(t, workload{[]sim.Fleet{batch{size: 60, threads: c}.fleet()}, []strategies.Layer{threads(c)}})
		require.Equal(t, failures, g.refusals, "%d threads", c)
	}
	g, _ := runWorkload(t, workload{[]sim.Fleet{batch{size: 60, threads: 5, apart: time.Millisecond}.fleet()}, []strategies.Layer{threads(5)}})
	require.Equal(t, 7, g.refusals)
}

// Without a pause each of the four tests shares a second with the test before, so
// that the requests started there count. The reference has 0/6/40/54 and states
// neither the pause between two tests nor when a test ends. An independent program
// with the same rules agrees with the simulator, 0/6/48/50 without a pause, and has
// no pause up to 3 s, counted from the last start, answer or free thread, with
// which 10 and 20 threads have 40 and 54. The test checks what the rules determine:
// the first two are as in a new window, more than half fail from ten threads on,
// and the long limit refuses none.
func TestP14003PollingBackToBack(t *testing.T) {
	for pause, want := range map[time.Duration][]int{
		0:                      {0, 6, 48, 50},
		50 * time.Millisecond:  {0, 6, 42, 53},
		200 * time.Millisecond: {0, 6, 35, 56},
		time.Second:            {0, 6, 42, 50}, // new windows again
	} {
		var all []sim.Fleet
		var got []int
		begin, before := time.Duration(0), 0
		for _, c := range []int{1, 5, 10, 20} {
			f := batch{size: 60, threads: c, from: begin}.fleet()
			f.Program = compiled(t, threads(c))
			all = append(all, f)
			g, r := runFleets(t, all) // the earlier fleets run again with the same result
			got = append(got, g.refusals-before)
			begin, before = r.End+pause, g.refusals
			for _, r := range g.replies {
				require.Equal(t, wire.Concurrency, r.Class)
			}
		}
		require.Equal(t, want, got, "pause %v", pause)
	}
}

// The overnight batch: 10,000 requests of one worker, each until it succeeds.
// A window of 300 s has 210 × 0.5 s of work and then ⌈195 s ÷ 3.05 s⌉ = 64
// refusals of one request; 47 windows are used up and 130 requests remain.
func TestP14003Batch(t *testing.T) {
	g, r := runWorkload(t, workload{workers(1, 10_000, 200*time.Millisecond), []strategies.Layer{byHint}})
	require.EqualValues(t, 10_000, r.Belief.Useful)
	require.Equal(t, 3008, g.refusals)
	require.Equal(t, 47, len(g.touched))
	require.Equal(t, 47*64, g.refusals)
	// 47 windows of 105 s + 64 × 3.05 s, and 130 × 0.5 s without the last pause.
	require.Equal(t, 47*(105*time.Second+64*3050*time.Millisecond)+130*500*time.Millisecond-200*time.Millisecond, r.End)
	require.InDelta(t, 14_174, r.End.Seconds(), 0.5)
	require.InDelta(t, 2.835, r.End.Seconds()/5000, 0.0005, "duration with limits ÷ duration without")
}

// A semaphore in the client, held while a refused request waits, as in the reference
// experiment. With two threads none of 200 requests is refused, with five 3 %, with
// ten a fifth.
func TestP14003ClientSemaphore(t *testing.T) {
	for c, untouched := range map[int]float64{1: 100, 2: 100, 5: 97, 10: 80} {
		b := batch{size: 200, threads: c, apart: time.Millisecond}
		g, _ := runWorkload(t, workload{[]sim.Fleet{b.fleet()}, []strategies.Layer{threads(c), byHint}})
		require.Equal(t, untouched, 100-float64(len(g.touched))/2, "%d threads", c)
	}
	// In the long run only the quota limits the throughput, 0.73 a second for any
	// number of threads. The reference has three digits. For ten threads that start
	// 1 ms apart it has 0.736 and the simulator 0.737: in the reference a request
	// that the long limit refuses starts a second of the joint limit, here it does
	// not reach that limit. With this change the independent program has the same
	// outcome for every request as the simulator.
	for c, want := range map[int][2]float64{1: {0.730, 0.730}, 2: {0.729, 0.729}, 5: {0.735, 0.735}, 10: {0.736, 0.737}} {
		for i, apart := range []time.Duration{0, time.Millisecond} {
			b := batch{size: 2000, threads: c, apart: apart}
			_, r := runWorkload(t, workload{[]sim.Fleet{b.fleet()}, []strategies.Layer{threads(c), byHint}})
			require.InDelta(t, want[i], 2000/r.End.Seconds(), 0.0005, "%d threads, %v apart", c, apart)
		}
	}
}

// The results that the comment of the scenario states.
func TestP14003Strategies(t *testing.T) {
	s, err := scenarios.Builtin("p14003")
	require.NoError(t, err)
	require.InDelta(t, 0.7, s.Plan().Capacity, 1e-12, "210 in 300 s")
	for i, c := range s.Strategies() {
		r := run(t, s, i, 1)
		refused := r.Truth.Replies[wire.Rate] + r.Truth.Replies[wire.Concurrency]
		if c.Name == "status-only" {
			require.EqualValues(t, 2000-210, r.Belief.Lost)
			require.Less(t, r.End, 2*time.Minute)
			continue
		}
		require.EqualValues(t, 2000, r.Belief.Useful, c.Name)
		require.Zero(t, r.Belief.Lost, c.Name)
		require.Greater(t, r.End, 45*time.Minute, "%s: 2,000 requests need nine full windows", c.Name)
		switch c.Name {
		case "token-bucket":
			require.Zero(t, refused)
			// Ten at once, then 0.49 a second, and the answer of the last call.
			require.InDelta(t, 1990/0.49, r.End.Seconds(), 1)
		case "naive":
			require.Greater(t, refused, uint64(200_000))
			require.Less(t, r.End, 46*time.Minute)
		default:
			require.Greater(t, refused, uint64(100), c.Name)
			require.Less(t, refused, uint64(1000), c.Name)
			require.Less(t, r.End, 55*time.Minute, c.Name)
		}
	}
}
