package validation

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
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

// The collapse of "Retries, and how clients can contribute to outages" (M. Brooker,
// 2022; github.com/mbrooker/simulator_example, simple_collapse_sim): a server that
// takes 1 s + 10 ms for each request in flight, this one included, and clients that
// give up after 3 s and try three times in all.

// crowded is that server: a request that finds n others takes 1.01 + 0.01 n s.
func crowded() mockprovider.Config {
	const others = 1e6
	return mockprovider.Config{Capacity: mockprovider.Capacity{
		Service: mockprovider.Service{First: draw.Const(1010 * ms)},
		Overload: mockprovider.Overload{Rated: 1, Latency: mockprovider.Curve{
			Points: []mockprovider.Point{{Load: 0, Value: 1}, {Load: others, Value: 1 + others/101}},
		}},
	}}
}

// varying are arrivals whose rate a second is a function of time; each gap goes by
// the rate at its beginning. They end when that is 0.
type varying func(seconds float64) float64

func (v varying) Next(r draw.Rand, i uint64, prev time.Duration) (time.Duration, bool) {
	rate := v(prev.Seconds())
	if rate <= 0 {
		return 0, false
	}
	return prev + r.Exp(i, time.Duration(1e9/rate)), true
}

func (varying) Demand(draw.Rand, uint64) wire.Demand { return wire.Demand{} }

// Without timeouts the number in flight is k = λ(1 + 0.01(k+1)) on the average:
// arrivals see the mean. A fluid has 66.667 at 40 a second, 150 at 60, 400 at 80
// and no end at 100; requests take 3 s, the network included, from 64.29 on.
func TestCrowdedServer(t *testing.T) {
	statistics(t)
	for lambda, fluid := range map[float64][2]float64{40: {66.667, 1.667}, 60: {150, 2.5}, 80: {400, 5}} {
		require.InDeltaSlice(t, fluid[:], []float64{lambda / (1 - 0.01*lambda), 1 / (1 - 0.01*lambda)}, 0.001)
		q := queue{
			name: fmt.Sprintf("%g", lambda), fleet: poisson(t, lambda), cfg: crowded(), seconds: 6000, seeds: 4, long: lambda != 60,
			rough: []figure{ // sharp enough to tell whether a request counts itself
				{"in flight", 1.01 * lambda / (1 - 0.01*lambda), func(d day) float64 { return d.MeanCalls() }},
				{"latency", 1.01 / (1 - 0.01*lambda), func(d day) float64 { return d.MeanSojourn() }},
			},
		}
		if lambda == 80 { // it takes a while to fill up, which costs half a per cent
			q.figures, q.rough = q.rough, nil
		}
		q.check(t)
	}
	require.InDelta(t, 3, 1/(1-0.6429)+0.2, 0.001)
}

// theirRuns is how many runs the published means are of.
const theirRuns = 10

// totals80 are the counts of the first 80 s.
type totals80 struct{ starts, successes, retries, timeouts float64 }

// collapse is 80 s of clients that come at a rate and wait for a backoff; it also
// returns how many succeed in each second.
func collapse(t *testing.T, rate varying, b strategies.Backoff, seed uint64) (totals80, []uint32) {
	f := sim.Fleet{Name: "clients", Up: draw.Expo(100 * ms), Down: draw.Expo(100 * ms), Traffic: traffic.Traffic{Clients: 1, Arrivals: rate},
		Program: simtest.Program(t, layers.Retry{Backoff: b, MaxAttempts: 3}, layers.AttemptTimeout{After: 3 * time.Second})}
	rep := simtest.Run(t, sim.Experiment{
		Fleets: []sim.Fleet{f}, Provider: simtest.Provider(t, crowded(), seed), Rand: draw.New(seed), Plan: metrics.Plan{Horizon: 80 * time.Second},
	})
	expired := float64(rep.Belief.Endings[metrics.TimedOut])
	return totals80{float64(rep.Belief.Calls), float64(rep.Belief.Useful), expired - float64(rep.Belief.Failed), expired},
		append(rep.Series.Useful, make([]uint32, 80)...)[:80]
}

// rateOf is the mean number a second from one second to another.
func rateOf(perSecond []uint32, from, to int) (mean float64) {
	for _, n := range perSecond[from:to] {
		mean += float64(n) / float64(to-from)
	}
	return mean
}

// Five seconds at twice the rate: without backoff most runs never come back and
// some escape, with it all recover. What is published for the former, 3411 starts,
// 1562 successes, 3406 retries and 4955 timeouts, and 7 to 9 successes a second
// to the end, is the mean of eight runs of the one kind and two of the other.
func TestSpikeWithoutBackoff(t *testing.T) {
	statistics(t)
	var down, up []totals80
	for seed := range uint64(40) {
		total, useful := collapse(t, spike, backoffs.Fixed{}, seed)
		require.Greater(t, rateOf(useful, 5, 19), 30.0, "before")
		switch late := rateOf(useful, 50, 78); {
		case late < 1:
			down = append(down, total)
		case late > 35:
			up = append(up, total)
		default:
			t.Errorf("%g successes a second are neither", late)
		}
	}
	share(t, "down", 0.8, len(down), 40)
	mixed := func(of func(totals80) float64) (sum float64) {
		for _, x := range down {
			sum += 0.8 * of(x) / float64(len(down))
		}
		for _, x := range up {
			sum += 0.2 * of(x) / float64(len(up))
		}
		return sum
	}
	got := totals80{
		mixed(func(x totals80) float64 { return x.starts }), mixed(func(x totals80) float64 { return x.successes }),
		mixed(func(x totals80) float64 { return x.retries }), mixed(func(x totals80) float64 { return x.timeouts }),
	}
	t.Logf("%+v of %d down and %d up", got, len(down), len(up))
	assert.InEpsilon(t, 3411, got.starts, 0.05)
	assert.InEpsilon(t, 1562, got.successes, 0.05)
	assert.InEpsilon(t, 3406, got.retries, 0.05)
	assert.InEpsilon(t, 4955, got.timeouts, 0.05)
}

// spike and ramp are how many clients come in a second.
func spike(s float64) float64 {
	if s >= 20 && s <= 25 {
		return 80
	}
	return 40
}

func ramp(s float64) float64 { return 80 - 1.6*max(s-25, 25-s) }

// With jitter that is as wide as the trouble the spike passes; a ramp up to twice
// what can be borne brings the server down with and without, for good, though
// the load falls to nothing.
func TestSimpleCollapse(t *testing.T) {
	statistics(t)
	wide := backoffs.FullJitter{Base: 20 * time.Second} // U(0, 20 s), then U(0, 40 s)
	for name, c := range map[string]struct {
		rate    varying
		backoff strategies.Backoff
		want    totals80
		sharp   float64 // of retries and timeouts, which differ much from run to run
		dip     float64 // at most so many successes a second at 28 s, on the average
		late    float64 // and so many from 45 s on, in every run
	}{
		"spike, backoff": {spike, wide, totals80{3408, 3333, 163, 163}, 0.7, 30, 40},
		"ramp":           {ramp, backoffs.Fixed{}, totals80{3519, 1009, 5026, 7521}, 0.12, 1, 0},
		"ramp, backoff":  {ramp, wide, totals80{3488, 1125, 4600, 5928}, 0.12, 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			longOnly(t, name == "ramp")
			var starts, successes, retries, timeouts sample
			dip := 0.0
			for seed := range uint64(40) {
				x, useful := collapse(t, c.rate, c.backoff, seed)
				starts, successes = append(starts, x.starts), append(successes, x.successes)
				retries, timeouts = append(retries, x.retries), append(timeouts, x.timeouts)
				dip += rateOf(useful, 27, 29) / 40
				assert.InDelta(t, c.late, rateOf(useful, 45, 78), 0.2+0.15*c.late)
			}
			assert.Less(t, dip, c.dip)
			near := func(what string, s sample, want, sharp float64) {
				sd, _ := s.spread()
				s.agrees(t, what, reference{want, sd / math.Sqrt(theirRuns)}, sharp)
			}
			near("starts", starts, c.want.starts, 0.05)
			near("successes", successes, c.want.successes, 0.15)
			near("retries", retries, c.want.retries, c.sharp)
			near("timeouts", timeouts, c.want.timeouts, c.sharp)
		})
	}
}
