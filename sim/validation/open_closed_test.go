package validation

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// "Open and Closed, Omission and Collapse" (M. Brooker, 2023;
// github.com/mbrooker/simulator_example, omission): one server of mean service
// 0.1, and clients that come whatever happens beside clients that wait for their
// answer.

// survival turns a survival function of seconds into a distribution, by its
// quantiles: the more of them, the rarer.
func survival(t testing.TB, s func(x float64) float64) draw.Dist {
	var q []draw.Quantile
	for i := range 1601 {
		log := -float64(i) / 100 // of the survival
		low, high := 0.0, 1e4
		for range 60 {
			if mid := (low + high) / 2; math.Log(s(mid)) > log {
				low = mid
			} else {
				high = mid
			}
		}
		q = append(q, draw.Quantile{P: -math.Expm1(log), Value: time.Duration(low * 1e9)})
	}
	d, err := draw.Quantiles(q...)
	require.NoError(t, err)
	return d
}

// Weibull service of shape 2 varies less than an exponential one (cv² = 4/π − 1),
// and so queues are shorter.
func TestWeibullService(t *testing.T) {
	statistics(t)
	const mean = 0.1
	cv := math.Sqrt(4/math.Pi - 1)
	require.InDelta(t, 0.273240, cv*cv, 1e-6)
	scale := mean / math.Gamma(1.5)
	service := survival(t, func(x float64) float64 { return math.Exp(-x * x / scale / scale) })
	require.InDelta(t, mean, service.Average().Seconds(), 1e-4)
	for _, c := range []struct{ rho, w, seconds, within float64 }{
		{0.1, 0.107074, 4000, 0}, {0.3, 0.127284, 3000, 0}, {0.5, 0.163662, 4000, 0},
		{0.7, 0.248545, 8000, 0}, {0.8, 0.354648, 8000, 0}, {0.9, 0.672958, 15_000, 0.06},
	} {
		require.InDelta(t, c.w, pollaczek(c.rho, mean, cv), 1e-6)
		queue{
			name: fmt.Sprintf("rho=%g", c.rho), fleet: poisson(t, c.rho/mean), cfg: simtest.Serves(1, unbounded, service),
			seconds: c.seconds, seeds: 8, within: c.within, long: c.rho == 0.8 || c.rho == 0.9,
			figures: []figure{{"W", c.w, func(d day) float64 { return d.MeanSojourn() }}},
		}.check(t)
	}
}

// bimodal is service that takes a hundred times as long for one request in a
// thousand.
func bimodal(t testing.TB) draw.Dist {
	return survival(t, func(x float64) float64 { return 0.999*math.Exp(-x/0.1) + 0.001*math.Exp(-x/10) })
}

// With bimodal service an open stream sees what a closed client omits: its p99 is
// more than 25, where that of a client who waits for each answer is below 1.
func TestOmission(t *testing.T) {
	statistics(t)
	const service, square, rho = 0.1099, 2 * (0.999*0.01 + 0.001*100), 0.8
	require.InDelta(t, 4.113176, service+rho/service*square/2/(1-rho), 1e-6)
	d := bimodal(t)
	require.InDelta(t, service, d.Average().Seconds(), 2e-4)
	see := func(f sim.Fleet, seconds time.Duration) *metrics.Report {
		return simtest.Run(t, sim.Experiment{
			Fleets: []sim.Fleet{f}, Provider: simtest.Provider(t, simtest.Serves(1, unbounded, d), 2), Rand: draw.New(2),
			Plan: metrics.Plan{Horizon: seconds * time.Second, Bin: time.Hour},
		})
	}
	open := see(poisson(t, rho/service), 50_000)
	assert.Greater(t, open.Latency.Quantile(0.99), 25*time.Second)
	assert.InDelta(t, 0.4, open.Latency.Quantile(0.5).Seconds(), 0.1)
	closed := see(workers(t, 1, 0.02), 10_000)
	assert.Less(t, closed.Latency.Quantile(0.99), time.Second)
	assert.InEpsilon(t, service, closed.MeanSojourn(), 0.1)
	// It converges slowly: six million arrivals gave 3.75.
	if simtest.Long {
		queue{
			name: "bimodal", fleet: poisson(t, rho/service), cfg: simtest.Serves(1, unbounded, d), seconds: 600_000, seeds: 4, within: 0.45,
			figures: []figure{{"W", 4.113176, func(d day) float64 { return d.MeanSojourn() }}},
		}.check(t)
	}
	// One client who thinks for 0.02 never meets a queue.
	one := simtest.Run(t, sim.Experiment{
		Fleets: []sim.Fleet{workers(t, 1, 0.02)}, Provider: simtest.Provider(t, simtest.Serves(1, unbounded, draw.Expo(100*ms)), 1), Rand: draw.New(1),
		Plan: metrics.Plan{Horizon: 10_000 * time.Second, Bin: time.Hour},
	})
	assert.InEpsilon(t, 0.1, one.MeanSojourn(), 0.02)
}

// Whoever asks again after 15 makes the queue of the open stream grow without
// bound, though 80 % of the server would be enough.
func TestAskingAgainCollapses(t *testing.T) {
	statistics(t)
	length := 600 * time.Second // of half a run
	if simtest.Long {
		length = 1000 * time.Second
	}
	waiting := func(layers ...strategies.Layer) (half, whole float64) {
		f := poisson(t, 0.8/0.1099)
		f.Program = simtest.Program(t, layers...)
		rep := simtest.Run(t, sim.Experiment{
			Fleets: []sim.Fleet{f}, Provider: simtest.Provider(t, simtest.Serves(1, unbounded, bimodal(t)), 2), Rand: draw.New(2),
			Plan: metrics.Plan{Horizon: 2 * length, Bin: length},
		})
		half = float64(rep.Series.Calls[0]) - float64(rep.Series.Settled[0])
		return half, float64(rep.Pending())
	}
	half, whole := waiting()
	assert.Less(t, max(half, whole), 1000.0, "on the average 30")
	half, whole = waiting(layers.Retry{Backoff: backoffs.Fixed{}}, layers.AttemptTimeout{After: 15 * time.Second})
	t.Log(half, whole)
	assert.Greater(t, half, 1000.0)
	assert.Greater(t, whole, 1.5*half)
}
