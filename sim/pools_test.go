package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// logging answers each request after a while and writes down what arrives.
func logging(after time.Duration, to *[]string) *simtest.Server {
	return &simtest.Server{Arrive: func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		*to = append(*to, fmt.Sprintf("%v %#x", now, in.Request.Call))
		return append(out, simtest.Reply(in.Ticket, after, wire.OK))
	}}
}

// One token comes every 100 ms. Calls are admitted in the order in which they
// asked, whoever's they are, and each as soon as its token is there.
func TestFirstComeFirstServed(t *testing.T) {
	bucket := layers.TokenBucket{Rate: 1, Per: 100 * ms, Burst: 2, Scope: strategies.PerFleet}
	var log []string
	x := sim.Experiment{Provider: logging(0, &log), Plan: minute, Fleets: []sim.Fleet{
		simtest.Arriving(simtest.Program(t, bucket), 0, 0, 10*ms, 20*ms, 20*ms, 250*ms, 700*ms, 700*ms, 700*ms),
	}}
	x.Fleets[0].Traffic.Clients = 3
	simtest.Run(t, x)
	require.Equal(t, []string{
		"0s 0x0", "0s 0x1", "100ms 0x2", "200ms 0x3", "300ms 0x4", "400ms 0x5", // nobody overtakes
		"700ms 0x6", "700ms 0x7", // two tokens again
		"800ms 0x8",
	}, log)
}

// A waiter that gives up costs nothing: neither a token, nor anybody's place,
// wherever it stands.
func TestGivingUpInALine(t *testing.T) {
	bucket := layers.TokenBucket{Rate: 1, Per: 100 * ms, Burst: 1, Scope: strategies.PerEveryone, Name: "shared"}
	for _, c := range []struct {
		quitter string
		asks    time.Duration // between the others, who ask at 10, 20 and 30 ms
		quits   time.Duration // patience
		want    []string
	}{
		// 0x1…: the quitter. It gives up after the first waiter's admission at
		// 100 ms where it is later, and before it where it is first.
		{"first", 5 * ms, 50 * ms, []string{"0s 0x0", "100ms 0x1", "200ms 0x2", "300ms 0x3"}},
		{"middle", 15 * ms, 50 * ms, []string{"0s 0x0", "100ms 0x1", "200ms 0x2", "300ms 0x3"}},
		{"last", 35 * ms, 50 * ms, []string{"0s 0x0", "100ms 0x1", "200ms 0x2", "300ms 0x3"}},
		{"first later", 15 * ms, 150 * ms, []string{"0s 0x0", "100ms 0x1", "200ms 0x2", "300ms 0x3"}},
	} {
		t.Run(c.quitter, func(t *testing.T) {
			var log []string
			commons := strategies.NewSharedMemory()
			patient := simtest.Arriving(simtest.ProgramIn(t, commons, bucket), 0, 10*ms, 20*ms, 30*ms)
			quitter := simtest.Arriving(simtest.ProgramIn(t, commons, bucket), c.asks)
			quitter.Patience = c.quits
			rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{patient, quitter}, Commons: commons, Provider: logging(0, &log), Plan: minute})
			require.Equal(t, c.want, log)
			require.EqualValues(t, 1, rep.Belief.Cancelled)
			require.Equal(t, 300*ms, rep.End, "a timer of somebody who left is not part of the run")
		})
	}
}

// The bug of many client-side limiters (grafana/rollout-operator#441 and
// others): callers reserve future tokens and give up, and the bucket stays in
// debt. 2,000 callers meet a bucket of 20/s and burst 5 and give up after 1 s;
// 25 are admitted, and one that asks right after the flood is admitted within
// 1/rate.
func TestFloodOfCancelledWaiters(t *testing.T) {
	bucket := layers.TokenBucket{Rate: 20, Per: time.Second, Burst: 5, Scope: strategies.PerFleet}
	for _, n := range []int{100, 2000} {
		var log []string
		var times []time.Duration
		for i := range n {
			times = append(times, time.Duration(i)*time.Microsecond)
		}
		after := time.Second + time.Duration(n)*time.Microsecond
		f := simtest.Arriving(simtest.Program(t, bucket), append(times, after)...)
		f.Patience = time.Second
		rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: logging(0, &log), Plan: minute})
		require.EqualValues(t, n-25, rep.Belief.Cancelled, "n = %d", n)
		require.Len(t, log, 26)
		require.Less(t, rep.End, after+time.Second/20+1)
	}
}

// Permits admit the head of the line as soon as one is given back, and are
// shared by the fleets that name the same pool.
func TestPermits(t *testing.T) {
	permits := layers.Concurrency{Permits: 2, Scope: strategies.PerEveryone, Name: "conns"}
	commons := strategies.NewSharedMemory()
	var log []string
	rep := simtest.Run(t, sim.Experiment{Commons: commons, Provider: logging(100*ms, &log), Plan: minute, Fleets: []sim.Fleet{
		simtest.Arriving(simtest.ProgramIn(t, commons, permits), 0, 20*ms, 30*ms),
		simtest.Arriving(simtest.ProgramIn(t, commons, permits), 10*ms, 25*ms),
	}})
	fleet1 := uint64(1 << 56)
	require.Equal(t, []string{
		"0s 0x0", fmt.Sprintf("10ms %#x", fleet1),
		"100ms 0x1", fmt.Sprintf("110ms %#x", fleet1+1), "200ms 0x2",
	}, log)
	require.EqualValues(t, 5, rep.Belief.Useful)
}

// A permit comes back whatever becomes of the call that held it: an answer, a
// refusal, a timeout, a caller who hangs up in flight or in an inner line.
func TestPermitsComeBack(t *testing.T) {
	permit := layers.Concurrency{Permits: 1, Scope: strategies.PerFleet}
	token := layers.TokenBucket{Rate: 1, Per: 100 * ms, Burst: 1, Scope: strategies.PerFleet}
	for name, c := range map[string]struct {
		p        *simtest.Server
		inner    []strategies.Layer
		patience time.Duration
		calls    []time.Duration
		want     []string
	}{
		"answers":       {simtest.Answering(20 * ms), nil, 0, simtest.At{0, 10 * ms}, []string{"0s 0x0", "20ms 0x1"}},
		"refusals":      {simtest.Refusing(1), nil, 0, simtest.At{0, 10 * ms}, []string{"0s 0x0", "10ms 0x1"}},
		"timeouts":      {simtest.Answering(-1), []strategies.Layer{simtest.Timeout(50 * ms)}, 0, simtest.At{0, 10 * ms}, []string{"0s 0x0", "50ms 0x1"}},
		"hanging up":    {simtest.Answering(-1), nil, 50 * ms, simtest.At{0, 10 * ms}, []string{"0s 0x0", "50ms 0x1"}},
		"hedges":        {simtest.Answering(70*ms, 10*ms), []strategies.Layer{hedge{after: 20 * ms, most: 2}}, 0, simtest.At{0, 10 * ms}, []string{"0s 0x0", "20ms 0x0", "30ms 0x1", "50ms 0x1"}},
		"an inner line": {simtest.Answering(0), []strategies.Layer{token}, 50 * ms, simtest.At{0, 10 * ms, 100 * ms}, []string{"0s 0x0", "100ms 0x2"}},
	} {
		t.Run(name, func(t *testing.T) {
			var log []string
			answer := c.p.Arrive
			c.p.Arrive = func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
				log = append(log, fmt.Sprintf("%v %#x", now, in.Request.Call))
				return answer(now, in, out)
			}
			f := simtest.Arriving(simtest.Program(t, append([]strategies.Layer{permit}, c.inner...)...), c.calls...)
			f.Patience = c.patience
			simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: c.p, Plan: minute})
			require.Equal(t, c.want, log)
		})
	}
}

// The pools of closed clients, which nobody else can wait for, are kept without
// a line. They admit as those of an open fleet do that makes the same calls.
func TestPrivatePoolsAdmitAsLinesDo(t *testing.T) {
	stacks := map[string][]strategies.Layer{
		"bucket": {layers.TokenBucket{Rate: 1, Per: 100 * ms, Burst: 2, Scope: strategies.PerClient}},
		"permit": {layers.Concurrency{Permits: 1, Scope: strategies.PerClient}},
		"both": {
			layers.Concurrency{Permits: 1, Scope: strategies.PerClient},
			layers.TokenBucket{Rate: 1, Per: 70 * ms, Burst: 1, Scope: strategies.PerClient},
		},
		"fleet's inside": {
			layers.TokenBucket{Rate: 1, Per: 50 * ms, Burst: 1, Scope: strategies.PerClient},
			layers.TokenBucket{Rate: 1, Per: 30 * ms, Burst: 1, Scope: strategies.PerFleet},
		},
	}
	for name, stack := range stacks {
		for _, patience := range []time.Duration{0, 40 * ms} {
			t.Run(fmt.Sprintf("%s, patience %v", name, patience), func(t *testing.T) {
				retry := layers.Retry{Backoff: backoffs.Fixed{Every: 7 * ms}, MaxAttempts: 6}
				p := simtest.Program(t, append([]strategies.Layer{retry}, stack...)...)
				// Clients of one call each, because that is how a closed
				// fleet's calls are known in advance.
				const n = 5
				one := func(f sim.Fleet) (log []string, rep *metrics.Report) {
					f.Patience = patience
					refusals := map[uint64]int{}
					mock := &simtest.Server{Arrive: func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
						call := in.Request.Call
						if call > n { // a closed client's first call
							call >>= 32
						}
						log = append(log, fmt.Sprintf("%v client %d attempt %d", now, call, in.Request.Attempt))
						if refusals[call]++; refusals[call] < 4 {
							return append(out, simtest.Reply(in.Ticket, 3*ms, wire.Overloaded))
						}
						return append(out, simtest.Reply(in.Ticket, 10*ms, wire.OK))
					}}
					return log, simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: mock, Plan: minute})
				}
				closed := sim.Fleet{Name: "closed", Program: p, Traffic: traffic.Traffic{Clients: n, Calls: 1, Start: draw.Const(ms)}}
				open := sim.Fleet{Name: "open", Program: p, Traffic: traffic.Traffic{Clients: n, Arrivals: simtest.At{ms, ms, ms, ms, ms}}}
				closedLog, closedRep := one(closed)
				openLog, openRep := one(open)
				require.Equal(t, openLog, closedLog)
				require.Equal(t, openRep.Belief, closedRep.Belief)
				require.Equal(t, openRep.End, closedRep.End)
			})
		}
	}
}

// A client's pool is its own: what one client takes, another does not miss.
func TestClientsDoNotShareTheirPools(t *testing.T) {
	var log []string
	f := simtest.Arriving(simtest.Program(t, layers.TokenBucket{Rate: 1, Per: 100 * ms, Burst: 1, Scope: strategies.PerClient}), 0, 0, 10*ms, 20*ms, 30*ms)
	f.Traffic.Clients = 2 // clients 0, 1, 0, 1, 0
	simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: logging(0, &log), Plan: minute})
	require.Equal(t, []string{"0s 0x0", "0s 0x1", "100ms 0x2", "100ms 0x3", "200ms 0x4"}, log)
}

// A call that takes more than one unit waits for all of them and holds up
// those behind it, small as they may be.
func TestALargeOrderIsNotOvertaken(t *testing.T) {
	sizes := []uint32{2, 2, 1, 1}
	stack := simtest.Layer(func(b *strategies.Build, _ strategies.Strategy) (strategies.Strategy, error) {
		id, err := b.Pool(shelf{3}, strategies.PerFleet, "")
		return simtest.Deciding(func(_ time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
			switch e.Kind {
			case strategies.Begin:
				return strategies.Decision{Kind: strategies.Acquire, Take: strategies.Take{Pool: id, N: sizes[c.ID]}}
			case strategies.Admitted:
				return simtest.Send()
			}
			c.Put(id, sizes[c.ID])
			return simtest.Stop(strategies.Succeeded)
		}), err
	})
	var log []string
	simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(simtest.Program(t, stack), 0, ms, 2*ms, 3*ms)}, Provider: logging(100*ms, &log), Plan: minute})
	// Call 2 could have had a unit at once, but call 1 was there before it.
	require.Equal(t, []string{"0s 0x0", "100ms 0x1", "100ms 0x2", "200ms 0x3"}, log)
}
