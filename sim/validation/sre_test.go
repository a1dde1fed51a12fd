package validation

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
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

// The numbers of Google's SRE book, chapters 21 and 22. (That layers multiply to 64
// is in TestNestedLayers.)

// evenly is so many calls a second for so many seconds.
func evenly(perSecond, seconds int) (times simtest.At) {
	for i := range perSecond * seconds {
		times = append(times, time.Duration(i)*time.Second/time.Duration(perSecond))
	}
	return times
}

// 10,100 a second at a backend that takes 10,000, and whoever fails comes back after
// a second: each second there are a hundred more, and a hundred more fail.
func TestRetriesPileUp(t *testing.T) {
	statistics(t)
	const seconds = 10
	f := simtest.Arriving(simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}}), evenly(10_100, seconds)...)
	rep := simtest.Run(t, sim.Experiment{
		Fleets:   []sim.Fleet{f},
		Provider: simtest.Provider(t, mockprovider.Config{Limits: []mockprovider.Limit{limits.Window{Limit: 10_000, Length: time.Second}}}, 1),
		Plan:     metrics.Plan{Horizon: seconds * time.Second},
	})
	for i := range seconds {
		require.EqualValues(t, 10_100+100*i, rep.Series.Attempts[i], "arrivals in second %d", i+1)
		require.EqualValues(t, 100*(i+1), rep.Series.Attempts[i]-rep.Series.Useful[i], "failures in second %d", i+1)
	}
	require.EqualValues(t, 10_800, rep.Series.Attempts[7])
}

// Where nearly everything is refused, three attempts are a load just below three
// times the demand; of retries that are a tenth of the requests at most, 1.1 times.
// A tenth of all, retries included, would be 1/(1 − 0.1) = 1.111.
func TestRetryRatio(t *testing.T) {
	statistics(t)
	three := layers.Retry{Backoff: backoffs.Fixed{Every: 100 * ms}, MaxAttempts: 3}
	ratio := layers.FinagleBudget{Percent: 10, TTL: 2 * time.Minute, Scope: strategies.PerClient}
	perMinute := layers.FinagleBudget{MinPerSecond: 1, TTL: time.Minute, Scope: strategies.PerFleet}
	for name, c := range map[string]struct {
		layers []strategies.Layer
		check  func(t *testing.T, first, retries, load float64)
	}{
		"three attempts": {[]strategies.Layer{three}, func(t *testing.T, _, _, load float64) {
			assert.Less(t, load, 3.0)
			assert.Greater(t, load, 2.9)
		}},
		"ten per cent": {[]strategies.Layer{ratio, three}, func(t *testing.T, first, retries, load float64) {
			assert.LessOrEqual(t, retries, 0.1*first)
			assert.InDelta(t, 1.1, load, 0.002)
		}},
		"60 a minute": {[]strategies.Layer{perMinute, three}, func(t *testing.T, _, retries, _ float64) {
			assert.EqualValues(t, 600, retries)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			const perSecond, seconds = 200, 600
			f := simtest.Arriving(simtest.Program(t, c.layers...), evenly(perSecond, seconds)...)
			rep := simtest.Run(t, sim.Experiment{
				Fleets:   []sim.Fleet{f},
				Provider: simtest.Provider(t, mockprovider.Config{Limits: []mockprovider.Limit{limits.Window{Limit: 4, Length: time.Second}}}, 1),
				Plan:     metrics.Plan{Horizon: time.Hour},
			})
			first, retries := float64(rep.FirstTries), float64(rep.Retries)
			c.check(t, first, retries, (first+retries)/first)
		})
	}
}

// Adaptive throttling over two minutes: where of D calls a second A < D/K are
// accepted, K·A are sent, 1 − K·A/D are refused by the client, and (K−1)·A by the
// backend.
func TestAdaptiveThrottling(t *testing.T) {
	statistics(t)
	for _, c := range []struct{ k, sent, local, refused float64 }{{2, 200, 0.8, 100}, {1.1, 110, 0.89, 10}} {
		t.Run(fmt.Sprintf("K=%g", c.k), func(t *testing.T) {
			const demand, accepts = 1000, 100
			const from, to = 300, 900 // seconds
			require.InDelta(t, c.sent, c.k*accepts, 1e-9)
			require.InDelta(t, c.local, 1-c.sent/demand, 1e-9)
			require.InDelta(t, c.refused, (c.k-1)*accepts, 1e-9)
			refused := 0.0
			p := simtest.Provider(t, mockprovider.Config{Limits: []mockprovider.Limit{limits.TokenBucket{Limit: accepts, Length: time.Second, Burst: accepts}}}, 1)
			look := &simtest.Server{Arrive: func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
				n := len(out)
				if out = p.Step(now, in, out); out[n].Kind == wire.Replied && now >= from*time.Second {
					refused++
				}
				return out
			}, Other: p.Step}
			f := poisson(t, demand)
			f.Program = simtest.Program(t, layers.Throttle{K: c.k, Scope: strategies.PerFleet})
			f.Traffic.Arrivals = traffic.Stream{Gap: draw.Expo(time.Second / demand), Until: to * time.Second}
			rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: look, Rand: draw.New(1), Plan: metrics.Plan{Horizon: time.Hour}})
			var calls, sent float64
			for i := from; i < to; i++ {
				calls += float64(rep.Series.Calls[i])
				sent += float64(rep.Series.Attempts[i])
			}
			t.Log(sent/(to-from), 1-sent/calls, refused/(to-from))
			assert.InEpsilon(t, c.sent, sent/(to-from), 0.03)
			assert.InEpsilon(t, c.local, 1-sent/calls, 0.01)
			assert.InDelta(t, c.refused, refused/(to-from), 0.03*c.sent)
		})
	}
}
