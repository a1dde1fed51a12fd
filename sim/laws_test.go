package sim_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/presets"
)

// census counts what passes a provider, independently of the recorder.
type census struct {
	sim.Provider
	arrived, replied, useful uint64
	attempts                 map[string]bool
	slot                     time.Duration
}

func (p *census) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	if in.Kind == wire.Arrive {
		p.arrived++
		p.attempts[fmt.Sprint(in.Request.Call, in.Request.Attempt)] = true
	}
	n := len(out)
	out = p.Provider.Step(now, in, out)
	for _, e := range out[n:] {
		p.slot += e.Slot
		if e.Kind == wire.Replied {
			p.replied++
			if e.Reply.Class == wire.OK {
				p.useful++
			}
		}
	}
	return out
}

// Every run obeys the conservation laws. Report.Check is part of every run;
// here the books are also compared with an independent count.
func TestConservation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		x := anyRecipe(r, false).experiment(r, 1)
		p := &census{Provider: x.Provider, attempts: map[string]bool{}}
		x.Provider = p
		rep, err := x.Run(ctx)
		require.NoError(r, err)
		require.NoError(r, rep.Check())
		b := &rep.Belief
		require.Equal(r, b.Calls, b.Succeeded+b.Failed+rep.Pending())
		require.Equal(r, p.arrived, rep.Arrived)
		require.EqualValues(r, p.arrived, len(p.attempts), "the provider saw an attempt twice")
		require.Equal(r, p.useful, rep.Truth.Replies[wire.OK])
		require.Equal(r, p.slot, rep.Truth.SlotTime.Duration())
		var replies uint64
		for _, n := range rep.Truth.Replies {
			replies += n
		}
		require.Equal(r, p.replied, replies)
		require.LessOrEqual(r, replies+rep.Truth.Dropped, rep.Arrived)
		require.LessOrEqual(r, rep.Truth.WastedSlotTime.Duration(), rep.Truth.SlotTime.Duration())
		require.LessOrEqual(r, b.Cancelled, b.Failed)
		require.LessOrEqual(r, b.Endings[metrics.Answered], p.useful)
		if rep.Pending() == 0 {
			require.Zero(r, rep.InFlight)
			require.InEpsilon(r, 1+rep.MeanSojourn()*float64(b.Calls)/rep.End.Seconds(), 1+rep.MeanCalls(), 1e-9, "Little's law")
		}
		require.LessOrEqual(r, rep.End, x.Plan.Horizon)
	})
}

// The same experiment gives the same report, whatever else runs, and on however
// many cores.
func TestDeterminism(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		plan := anyRecipe(r, false)
		want := plan.run(r, 1)
		before := runtime.GOMAXPROCS(0)
		defer runtime.GOMAXPROCS(before)
		for _, cores := range []int{1, 8} {
			runtime.GOMAXPROCS(cores)
			experiments := make([]sim.Experiment, 4)
			for i := range experiments {
				experiments[i] = plan.experiment(r, 1)
			}
			reports := make([]*metrics.Report, len(experiments))
			simtest.InParallel(len(experiments), func(i int) { reports[i], _ = experiments[i].Run(ctx) })
			for _, rep := range reports {
				require.Equal(r, want, rep, "with %d cores", cores)
			}
		}
	})
}

// One compiled program may run in many experiments at a time.
func TestProgramsAreShared(t *testing.T) {
	t.Parallel()
	d, err := presets.Lookup("breaker+full-jitter", presets.Knowledge{Rate: 6, Per: 2 * time.Second, Concurrency: 6})
	require.NoError(t, err)
	prog, err := strategies.Compile(d, nil)
	require.NoError(t, err)
	reports := make([]*metrics.Report, 16)
	simtest.InParallel(len(reports), func(i int) {
		seed := uint64(i % 4)
		cfg := simtest.Serves(6, 0, draw.Expo(2*time.Second))
		cfg.Faults = []mockprovider.Fault{faults.Outage(0, 30*time.Second, mockprovider.As503)}
		p, _ := mockprovider.New(cfg, draw.New(seed).For(1))
		f := sim.Fleet{Name: "fleet", Program: prog, Traffic: traffic.OneShot(60, time.Millisecond)}
		x := sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Rand: draw.New(seed).For(2),
			Plan: metrics.Plan{Horizon: time.Hour, FaultEnd: 30 * time.Second, OneShot: true}}
		reports[i], _ = x.Run(ctx)
	})
	for i, rep := range reports {
		require.NotNil(t, rep)
		require.Equal(t, reports[i%4], rep)
	}
	require.NotEqual(t, reports[0], reports[1], "seeds must matter")
}

// Multiplying every duration by an integer, and the grid of drawn ones with
// them, changes no count and no bin.
func TestScaling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		plan := anyRecipe(r, false)
		one := plan.run(r, 1)
		for _, k := range []time.Duration{2, 7, 1000} {
			many := plan.run(r, k)
			require.Equal(r, one.Belief, many.Belief, "times %d", k)
			require.Equal(r, one.Series.Attempts, many.Series.Attempts, "times %d", k)
			require.Equal(r, one.Series.Calls, many.Series.Calls)
			require.Equal(r, one.Series.Useful, many.Series.Useful)
			require.Equal(r, one.Series.Settled, many.Series.Settled)
			require.Equal(r, k*one.Series.Start, many.Series.Start)
			require.Equal(r, one.Truth.Replies, many.Truth.Replies)
			require.Equal(r, k*one.Truth.SlotTime.Duration(), many.Truth.SlotTime.Duration())
			require.Equal(r, k*one.Truth.WastedSlotTime.Duration(), many.Truth.WastedSlotTime.Duration())
			require.Equal(r, k*one.End, many.End)
			require.Equal(r, one.Events, many.Events)
			require.Equal(r, [3]uint64{one.InFlight, one.Arrived, one.AttemptsInFault}, [3]uint64{many.InFlight, many.Arrived, many.AttemptsInFault})
		}
	})
}

// Who never retries sends one attempt for each call.
func TestNoRetriesNoAmplification(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		plan := anyRecipe(r, false)
		for i := range plan.fleets {
			plan.fleets[i].layers = nil
		}
		rep := plan.run(r, 1)
		require.Equal(r, rep.Belief.Calls, rep.Belief.Attempts)
		require.Zero(r, rep.Retries)
	})
}

// More capacity never lowers goodput when nobody retries and jobs are of one
// size: greedy service of equal jobs is optimal, so a slot more, or a place
// more, cannot hurt.
func TestMoreCapacityNeverHurts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		l := lot{r}
		var times simtest.At
		for range l.num("calls", 1, 60) {
			times = append(times, l.dur("at", 0, time.Second))
		}
		f := simtest.Arriving(nil, slices.Sorted(slices.Values(times))...)
		cfg := simtest.Serves(l.num("slots", 1, 5), l.num("queue", 0, 4), draw.Const(l.dur("service", 1, 200*ms)))
		cfg.RefusalTime = l.oneOf("refusal time", 0, 5*ms)
		if l.coin("outage") {
			cfg.Faults = []mockprovider.Fault{faults.Outage(300*ms, 500*ms, mockprovider.As503)}
		}
		goodput := func(cfg mockprovider.Config) uint64 {
			p, err := mockprovider.New(cfg, draw.New(1))
			require.NoError(r, err)
			f.Program, err = strategies.Compile(strategies.Definition{Name: "once"}, nil)
			require.NoError(r, err)
			rep, err := (&sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: minute}).Run(ctx)
			require.NoError(r, err)
			return rep.Belief.Useful
		}
		base, slot, place := goodput(cfg), cfg, cfg
		slot.Slots++
		place.Queue++
		require.GreaterOrEqual(r, goodput(slot), base, "one slot more")
		require.GreaterOrEqual(r, goodput(place), base, "one place more")
	})
}
