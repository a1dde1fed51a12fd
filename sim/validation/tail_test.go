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
	"herdlab/strategies"
	"herdlab/strategies/layers"
)

// lucky answers each attempt after a time of its own.
func lucky(took func(r draw.Rand, attempt uint64) time.Duration) *simtest.Server {
	luck := draw.New(7)
	return &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		return append(out, simtest.Reply(in.Ticket, took(luck.For(in.Request.Call), uint64(in.Request.Attempt)), wire.OK))
	}}
}

// luckOfExp is a provider whose every attempt takes Exp(1 s).
func luckOfExp(t *testing.T) sim.Provider {
	return simtest.Provider(t, mockprovider.Config{Capacity: mockprovider.Capacity{Service: mockprovider.Service{First: draw.Expo(time.Second), PerAttempt: true}}}, 7)
}

// Hedge, the layer, by the closed forms of independent attempts of Exp(1): after d
// the mean is (1−e⁻ᵈ) + e⁻ᵈ/2, the extra load e⁻ᵈ, and the p-quantile, if that is
// beyond d, (−ln(1−p)+d)/2.
func TestHedgeLayer(t *testing.T) {
	statistics(t)
	const calls = 100_000
	for _, c := range []struct{ d, mean, load, p99, p999 float64 }{
		{0, 0.5, 1, 2.302585, 3.453878}, {1, 0.816060, 0.367879, 2.802585, 3.953878}, {math.Log(20), 0.975, 0.05, 3.800451, 4.951744},
	} {
		t.Run(fmt.Sprintf("d=%.3g", c.d), func(t *testing.T) {
			longOnly(t, c.d == 0)
			e := math.Exp(-c.d)
			require.InDeltaSlice(t, []float64{c.mean, c.load, c.p99, c.p999},
				[]float64{1 - e + e/2, e, (-math.Log(0.01) + c.d) / 2, (-math.Log(0.001) + c.d) / 2}, 1e-6)
			after := max(1, time.Duration(c.d*1e9))
			f := simtest.OneShot(calls, simtest.Program(t, layers.Hedge{After: after, Scope: strategies.PerFleet}))
			f.Traffic.Start = draw.Between(0, time.Hour)
			rep := simtest.Run(t, sim.Experiment{
				Fleets: []sim.Fleet{f}, Rand: draw.New(5), Plan: metrics.Plan{Horizon: 2 * time.Hour, Bin: time.Minute},
				Provider: luckOfExp(t),
			})
			require.EqualValues(t, calls, rep.Belief.Useful)
			assert.InDelta(t, c.mean, rep.MeanSojourn(), 4/math.Sqrt(calls))
			assert.InDelta(t, c.load, float64(rep.Hedges)/calls, 4*math.Sqrt(max(c.load*(1-c.load), 1e-6)/calls))
			for p, want := range map[float64]float64{0.99: c.p99, 0.999: c.p999} {
				// The density at that quantile is twice the share beyond it.
				se := math.Sqrt(p*(1-p)/calls) / (2 * (1 - p))
				assert.InDelta(t, want, rep.Latency.Quantile(p).Seconds(), 4*se+0.01*want, "p%g", 100*p)
			}
		})
	}
	// At a quantile that it learns, the extra load is the share beyond it.
	for _, q := range []float64{0.5, 0.9, 0.95} {
		t.Run(fmt.Sprintf("quantile=%g", q), func(t *testing.T) {
			longOnly(t, q < 0.95)
			f := simtest.OneShot(calls, simtest.Program(t, layers.Hedge{After: time.Second, Quantile: q, Scope: strategies.PerFleet}))
			f.Traffic.Start = draw.Between(0, 10*time.Hour)
			rep := simtest.Run(t, sim.Experiment{
				Fleets: []sim.Fleet{f}, Rand: draw.New(5), Plan: metrics.Plan{Horizon: 20 * time.Hour, Bin: time.Minute},
				Provider: luckOfExp(t),
			})
			d := -math.Log(1 - q)
			assert.InEpsilon(t, 1-q, float64(rep.Hedges)/calls, 0.05)
			assert.InEpsilon(t, 1-(1-q)/2, rep.MeanSojourn(), 0.012)
			assert.InEpsilon(t, (math.Log(100)+d)/2, rep.Latency.Quantile(0.99).Seconds(), 0.04)
		})
	}
}

// The tail at scale (J. Dean and L. Barroso, CACM 2013): where one answer in a
// hundred is slow, 1 − 0.99¹⁰⁰ = 63 % of the tasks that need a hundred of them are. A
// second attempt for what is slow leaves one in ten thousand, and 1 % of the
// tasks, for 1 % more requests.
func TestTailAtScale(t *testing.T) {
	statistics(t)
	const tasks, fan = 2000, 100
	require.InDelta(t, 0.633968, 1-math.Pow(0.99, fan), 1e-6)
	var times simtest.At
	for i := range tasks * fan {
		times = append(times, time.Duration(i/fan)*time.Minute)
	}
	slow := func(layers ...strategies.Layer) (slow int, hedges uint64) {
		late := map[time.Duration]bool{} // by when their task begins
		watch := simtest.Layer(func(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
			return simtest.Deciding(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
				d := inner.Next(now, c, e)
				if d.Kind == strategies.Stop && now-c.Born > 500*ms {
					late[c.Born] = true
				}
				return d
			}), nil
		})
		rep := simtest.Run(t, sim.Experiment{
			Fleets: []sim.Fleet{simtest.Arriving(simtest.Program(t, append([]strategies.Layer{watch}, layers...)...), times...)},
			Plan:   metrics.Plan{Horizon: 10_000 * time.Hour, Bin: time.Hour},
			Provider: lucky(func(r draw.Rand, attempt uint64) time.Duration {
				if r.Float(attempt) < 0.01 {
					return time.Second
				}
				return 10 * ms
			}),
		})
		require.EqualValues(t, tasks*fan, rep.Belief.Useful)
		return len(late), rep.Hedges
	}
	n, _ := slow()
	share(t, "slow tasks", 0.633968, n, tasks)
	n, hedges := slow(layers.Hedge{After: 20 * ms, Scope: strategies.PerFleet})
	share(t, "slow tasks, hedged", 1-math.Pow(1-1e-4, fan), n, tasks)
	share(t, "extra requests", 0.01, int(hedges), tasks*fan)
}
