package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// A fleet whose memory is prefetched has the same results as the same clients in
// small fleets, whose memory is not. The provider has no limits, so the small
// fleets are independent, and all durations are constant.
func TestPrefetchingChangesNothing(t *testing.T) {
	p := simtest.Program(t,
		layers.Retry{Backoff: backoffs.Fixed{Every: 700 * ms}, MaxAttempts: 3},
		layers.Breaker{Failures: 2, OpenFor: time.Second, MinWait: 100 * ms, Scope: strategies.PerClient},
		layers.TokenBucket{Rate: 1, Per: 300 * ms, Burst: 1, Scope: strategies.PerClient})
	outage := faults.Outage(2*time.Second, 5*time.Second, mockprovider.As503)
	crowd := func(clients int) *metrics.Report {
		cfg := mockprovider.Config{Capacity: mockprovider.Capacity{Service: mockprovider.Service{First: draw.Const(40 * ms)}}, Faults: []mockprovider.Fault{outage}}
		return simtest.Run(t, sim.Experiment{
			Fleets: []sim.Fleet{{
				Name: "crowd", Program: p, Up: draw.Const(5 * ms), Down: draw.Const(3 * ms),
				Traffic: traffic.Traffic{Clients: clients, Calls: 8, Start: draw.Const(ms), Think: draw.Const(500 * ms)},
			}},
			Provider: simtest.Provider(t, cfg, 1),
			Plan:     metrics.Plan{Horizon: time.Minute, FaultEnd: outage.To, Bin: 100 * ms},
		})
	}
	const small, times = 100, 80
	one, many := crowd(small), crowd(small*times)
	require.Equal(t, one.End, many.End)
	const ticks = 2 // the provider's own, at both ends of the outage
	require.Equal(t, times*(one.Events-ticks), many.Events-ticks)
	require.Equal(t, times*one.Belief.Attempts, many.Belief.Attempts)
	require.Equal(t, times*one.Belief.Failed, many.Belief.Failed)
	require.Positive(t, one.Belief.Failed)
	require.Len(t, many.Series.Attempts, len(one.Series.Attempts))
	for i, n := range one.Series.Attempts {
		require.Equal(t, times*n, many.Series.Attempts[i], "bin %d", i)
		require.Equal(t, times*one.Series.Useful[i], many.Series.Useful[i], "bin %d", i)
	}
}
