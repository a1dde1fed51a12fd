package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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

// Two runners of one call: the second is faster, the provider hears that the
// first is given up, and who stands inside hears of it before the call is over.
func TestRace(t *testing.T) {
	var d simtest.EventLog
	var steps []string
	p := simtest.Program(t, race{after: 50 * ms, runners: 2}, d.Record("c"))
	slow := simtest.Answering(300*ms, 40*ms)
	slow.Other = func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		if in.Kind == wire.Abandon {
			steps = append(steps, now.String()+" abandon")
		}
		return out
	}
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(p, 0)}, Provider: slow, Plan: minute})
	require.Equal(t, []string{
		"0s c0 begin", "50ms c0 begin", "90ms c0 reply 2 ok", "90ms c0 settled 1 cancelled",
	}, d.Lines)
	require.Empty(t, steps, "its reply is on the way already")
	require.Equal(t, map[metrics.Ending]uint64{metrics.Answered: 1, metrics.Cancelled: 1}, simtest.Endings(rep))
	require.Equal(t, metrics.Tries{FirstTries: 1, Hedges: 1}, rep.Tries)
	require.EqualValues(t, 1, rep.Belief.Useful)
	require.Equal(t, 90*ms, rep.Latency.Quantile(1))
}

// Every attempt gets exactly one terminal event inside a race as well, whether
// it wins, loses, fails, is too late or its caller gives up; and whatever was
// held is given back.
func TestEveryAttemptEndsOnceInsideARace(t *testing.T) {
	e := &ear{heard: map[string]int{}}
	var shelfWords []int64
	watch := simtest.Layer(func(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
		id, err := b.Pool(shelf{6}, strategies.PerFleet, "")
		if err != nil {
			return nil, err
		}
		permits, err := b.Reserve(strategies.PerCall, 1, "")
		return simtest.Deciding(func(now time.Duration, c *strategies.Call, ev strategies.Event) strategies.Decision {
			n := c.Word(permits, 0)
			switch {
			case ev.Kind == strategies.Begin:
				return strategies.Decision{Kind: strategies.Acquire, Take: strategies.Take{Pool: id, N: 1}}
			case ev.Kind == strategies.Admitted && *n == 0:
				*n = 1
				ev = strategies.Event{Kind: strategies.Begin}
			}
			d := inner.Next(now, c, ev)
			if *n > 0 && (d.Kind == strategies.Stop || d.Kind == strategies.Answer) {
				*n = 0
				c.Put(id, 1)
			}
			shelfWords = c.Driver().Memory[strategies.PerFleet]
			return d
		}), err
	})
	f := sim.Fleet{
		Name: "fleet", Patience: 170 * ms,
		Program: simtest.Program(t, layers.Retry{Backoff: backoffs.FullJitter{Base: 10 * ms, Cap: 50 * ms}, MaxAttempts: 2},
			race{after: 20 * ms, runners: 4}, e, watch,
			layers.Retry{Backoff: backoffs.FullJitter{Base: 5 * ms, Cap: 50 * ms}, MaxAttempts: 2}, simtest.Timeout(100*ms)),
		Up: draw.Between(0, 5*ms), Down: draw.Between(0, 5*ms),
		Traffic: traffic.Traffic{Clients: 3, Arrivals: traffic.Stream{Gap: draw.Expo(30 * ms), Until: 20 * time.Second}},
	}
	cfg := simtest.Serves(4, 4, draw.Expo(60*ms))
	cfg.RefusalTime = 3 * ms
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Provider(t, cfg, 3), Rand: draw.New(3), Plan: minute})
	require.Zero(t, rep.InFlight)
	require.Zero(t, rep.Pending())
	require.Zero(t, shelfWords[0], "a permit was not given back")
	for line, n := range e.heard {
		var call, attempt int
		var class string
		scan(t, line, "call %d attempt %d: %s", &call, &attempt, &class)
		if attempt > 0 {
			require.Equal(t, 1, n, line)
		}
	}
	require.Greater(t, rep.Hedges, uint64(100))
	require.Greater(t, rep.Retries, uint64(50))
	for _, how := range []metrics.Ending{metrics.Answered, metrics.Refused, metrics.TimedOut, metrics.Cancelled} {
		require.Greater(t, rep.Belief.Endings[how], uint64(10), "the test is to meet ending %d", how)
	}
}

// lane is one runner of a race on paper: the tries that it will make, each so
// long after it was sent a success or a failure.
type lane struct {
	took []time.Duration
	ok   []bool
}

// follow says when the lane's tries are sent if it begins at a time, and when
// it ends how.
func (l lane) follow(at, pause time.Duration) (sent []time.Duration, ends time.Duration, won bool) {
	for i, d := range l.took {
		sent = append(sent, at)
		at += d
		if l.ok[i] {
			return sent, at, true
		}
		if i < len(l.took)-1 {
			at += pause
		}
	}
	return sent, at, false
}

// A race on paper: its runners know nothing of each other, and begin one after
// the other for as long as nobody has answered and somebody is under way.
func TestRaceBesideOneOnPaper(t *testing.T) {
	t.Parallel()
	const pause = 13*ms + 1
	rapid.Check(t, func(r *rapid.T) {
		lanes := make([]lane, rapid.IntRange(2, 4).Draw(r, "runners"))
		tries := rapid.IntRange(1, 3).Draw(r, "tries")
		after := time.Duration(rapid.Int64Range(1, int64(60*ms)).Draw(r, "after"))*2 + 1
		for i := range lanes {
			for range tries {
				lanes[i].took = append(lanes[i].took, time.Duration(rapid.Int64Range(1, int64(100*ms)).Draw(r, "took"))*1000+time.Duration(i))
				lanes[i].ok = append(lanes[i].ok, rapid.IntRange(0, 3).Draw(r, "luck") == 0)
			}
		}
		var attempts uint64
		over, won := never, false
		lastEnd, begins := time.Duration(0), time.Duration(0)
		var sends []time.Duration
		for i, l := range lanes {
			if i > 0 && (begins >= over || begins >= lastEnd) {
				break // there is an answer, or nobody is left to be hedged
			}
			sent, ends, ok := l.follow(begins, pause)
			if sends = append(sends, sent...); ok && ends < over {
				over, won = ends, true
			}
			lastEnd = max(lastEnd, ends)
			begins += after
		}
		if !won {
			over = lastEnd
		}
		for _, at := range sends {
			if at < over {
				attempts++
			}
		}

		made := make([]int, len(lanes))
		server := &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
			n := in.Request.Target.Model
			k := made[n]
			made[n]++
			class := wire.Overloaded
			if lanes[n].ok[k] {
				class = wire.OK
			}
			return append(out, simtest.Reply(in.Ticket, lanes[n].took[k], class))
		}}
		p := simtest.Program(t, race{after: after, runners: len(lanes), models: true},
			layers.Retry{Backoff: backoffs.Fixed{Every: pause}, MaxAttempts: tries})
		rep, err := (&sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(p, 0)}, Provider: server, Plan: metrics.Plan{Horizon: time.Hour}}).Run(ctx)
		require.NoError(r, err)
		require.Equal(r, over, time.Duration(math.Round(rep.MeanSojourn()*1e9)))
		require.Equal(r, won, rep.Belief.Useful == 1)
		require.Equal(r, attempts, rep.Belief.Attempts)
	})
}

// Hedging by its closed form: with answers after Exp(1) and an independent
// second try after d, the mean is 1 − e⁻ᵈ + e⁻ᵈ/2, the extra load e⁻ᵈ, and the
// p-quantile (d − ln(1−p))/2 if that is beyond d.
func TestHedgingClosedForm(t *testing.T) {
	t.Parallel()
	const calls = 40_000
	for _, d := range []float64{0, 0.3, 1, math.Log(20)} {
		after := time.Duration(d * float64(time.Second))
		f := simtest.Arriving(simtest.Program(t, race{after: after, runners: 2}))
		f.Traffic = traffic.Traffic{Clients: 100, Calls: calls / 100}
		luck := draw.New(7)
		rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Rand: draw.New(5), Plan: metrics.Plan{Horizon: time.Hour},
			Provider: &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
				return append(out, simtest.Reply(in.Ticket, luck.For(in.Request.Call).Exp(uint64(in.Request.Attempt), time.Second), wire.OK))
			}}})
		require.EqualValues(t, calls, rep.Belief.Useful)
		e := math.Exp(-d)
		assert.InDelta(t, 1-e+e/2, rep.MeanSojourn(), 4/math.Sqrt(calls), "mean after %v s", d)
		assert.InDelta(t, e, float64(rep.Hedges)/calls, 4*math.Sqrt(e/calls), "extra load after %v s", d)
		if q := (d - math.Log(0.01)) / 2; q > d {
			assert.InEpsilon(t, q, rep.Latency.Quantile(0.99).Seconds(), 0.05, "p99 after %v s", d)
		}
	}
}

// A hedge sets the call's one timer with each attempt, and hardly ever needs it:
// timers that nobody waits for must not pile up.
func TestTimersOfHedgesDoNotPileUp(t *testing.T) {
	f := simtest.OneShot(1, simtest.Program(t, race{after: time.Hour, runners: 2}))
	f.Traffic.Calls, f.Traffic.Think = 10_000, draw.Const(ms)
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Answering(ms), Plan: metrics.Plan{Horizon: 24 * time.Hour}})
	require.EqualValues(t, 10_000, rep.Belief.Useful)
	require.Zero(t, rep.Hedges)
	require.Less(t, rep.Events, uint64(20_100), "one event for the call, one for its answer, and hardly any for timers")
	require.Less(t, rep.End, time.Minute, "a timer of nobody's prolongs the run")
}
