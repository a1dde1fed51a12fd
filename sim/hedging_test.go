package sim_test

import (
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
)

// Two attempts of one call are in flight; the second is faster. Its success
// settles the call, the driver withdraws the first, and what is inside hears of
// that after the call is over.
func TestHedging(t *testing.T) {
	var d simtest.EventLog
	p := simtest.Program(t, d.Record("c"), hedge{after: 50 * ms, most: 2})
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(p, 0)}, Provider: simtest.Answering(300*ms, 40*ms), Plan: minute})
	require.Equal(t, []string{
		"0s c0 begin", "0s c0 sent 1", "50ms c0 wake", "50ms c0 sent 2", "90ms c0 reply 2 ok", "90ms c0 settled 1 cancelled",
	}, d.Lines)
	require.Equal(t, map[metrics.Ending]uint64{metrics.Answered: 1, metrics.Cancelled: 1}, simtest.Endings(rep))
	require.EqualValues(t, 1, rep.Belief.Useful)
	require.InDelta(t, 0.090, rep.MeanSojourn(), 1e-9)
}

// Every attempt gets exactly one terminal event, also after its call has been
// settled: a guard inside the hedge hears of each, once.
func TestEveryAttemptEndsOnceForItsGuards(t *testing.T) {
	e := &ear{heard: map[string]int{}}
	f := sim.Fleet{
		Name: "fleet", Program: simtest.Program(t, hedge{after: 20 * ms, most: 4}, e, simtest.Timeout(150*ms)), Patience: 170 * ms,
		Up: draw.Between(0, 5*ms), Down: draw.Between(0, 5*ms),
		Traffic: traffic.Traffic{Clients: 3, Arrivals: traffic.Stream{Gap: draw.Expo(10 * ms), Until: 5 * time.Second}},
	}
	cfg := simtest.Serves(8, 4, draw.Expo(60*ms))
	cfg.RefusalTime = 3 * ms
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Provider(t, cfg, 3), Rand: draw.New(3), Plan: minute})
	require.Zero(t, rep.InFlight)
	require.Zero(t, rep.Pending())
	byAttempt, cancellations := map[string]int{}, 0
	for line, n := range e.heard {
		var call, attempt int
		var class string
		scan(t, line, "call %d attempt %d: %s", &call, &attempt, &class)
		if attempt == 0 {
			cancellations += n // the Cancelled event of the call itself
			continue
		}
		byAttempt[line[:len(line)-len(class)]] += n
	}
	for attempt, n := range byAttempt {
		require.Equal(t, 1, n, attempt)
	}
	require.EqualValues(t, rep.Belief.Attempts, len(byAttempt))
	require.EqualValues(t, rep.Belief.Cancelled, cancellations)
	for _, how := range []metrics.Ending{metrics.Answered, metrics.Refused, metrics.TimedOut, metrics.Cancelled} {
		require.Greater(t, rep.Belief.Endings[how], uint64(10), "the test is to meet ending %d", how)
	}
}

// A strategy may hang up on one attempt and go on with the others. The answer
// that it had already received counts, however it settles the call.
func TestAbandon(t *testing.T) {
	var d simtest.EventLog
	won := false
	p := simtest.Program(t, d.Record("c"), listening(func(_ time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
		abandon := func(n uint32) strategies.Decision {
			return strategies.Decision{Kind: strategies.Abandon, Take: strategies.Take{N: n}}
		}
		switch {
		case e.Kind == strategies.Begin, e.Kind == strategies.Sent && c.Attempts < 3:
			return simtest.Send()
		case e.Kind == strategies.Reply:
			won = true
			return abandon(1)
		case e.Kind == strategies.Settled && e.Attempt == 1:
			return abandon(3)
		case e.Kind == strategies.Settled && won:
			require.Zero(t, c.InFlight)
			return simtest.Stop(strategies.Succeeded)
		}
		return strategies.Decision{}
	}))
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(p, 0)}, Provider: simtest.Answering(300*ms, 40*ms, 300*ms), Plan: minute})
	require.Equal(t, []string{
		"0s c0 begin", "0s c0 sent 1", "0s c0 sent 2", "0s c0 sent 3",
		"40ms c0 reply 2 ok", "40ms c0 settled 1 cancelled", "40ms c0 settled 3 cancelled",
	}, d.Lines)
	require.EqualValues(t, 1, rep.Belief.Useful)
	require.Zero(t, rep.Belief.Lost)
	require.EqualValues(t, 3, rep.Truth.Replies[wire.OK])
}

// Bad strategies stop the run with an error that says what they did.
func TestStrategyErrors(t *testing.T) {
	for name, c := range map[string]struct {
		f    simtest.Deciding
		want string
	}{
		"abandoning nothing": {func(time.Duration, *strategies.Call, strategies.Event) strategies.Decision {
			return strategies.Decision{Kind: strategies.Abandon, Take: strategies.Take{N: 7}}
		}, `sim: strategy "test" abandons attempt 7, which is not in flight`},
		"hedging without end": {func(time.Duration, *strategies.Call, strategies.Event) strategies.Decision {
			return simtest.Send()
		}, `sim: strategy "test" sends an attempt while 255 attempts of the call are in flight; limit its hedges`},
		"waiting twice": {func(_ time.Duration, _ *strategies.Call, e strategies.Event) strategies.Decision {
			if e.Kind == strategies.Begin {
				return simtest.Send()
			}
			return strategies.Decision{Kind: strategies.Acquire, Take: strategies.Take{N: 2}}
		}, `sim: strategy "test" acquires units for a call that already waits in a queue`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, scope := range []strategies.Scope{strategies.PerFleet, strategies.PerClient} {
				stack := simtest.Layer(func(b *strategies.Build, _ strategies.Strategy) (strategies.Strategy, error) {
					_, err := b.Pool(shelf{1}, scope, "")
					b.WantSent()
					return c.f, err
				})
				x := sim.Experiment{Fleets: []sim.Fleet{simtest.OneShot(1, simtest.Program(t, stack))}, Provider: simtest.Answering(time.Second), Plan: minute}
				_, err := x.Run(t.Context())
				require.EqualError(t, err, c.want)
			}
		})
	}
}
