package validation

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// grpcLoad is how many attempts so many calls make on the average under gRPC's retry
// throttling with ten tokens and 0.1 for each success, where attempts fail with the
// probability p: the chain of the tokens, in tenths, from a full bucket.
func grpcLoad(p float64, calls int) float64 {
	const full, half = 100, 50
	start := make([]float64, full+1) // the chances of what there is when a call begins
	start[full] = 1
	attempts := 0.0
	for range calls {
		next := make([]float64, full+1)
		for mass := 1.0; mass > 1e-12; {
			again := make([]float64, full+1)
			mass = 0
			for i, x := range start {
				attempts += x
				next[min(i+1, full)] += (1 - p) * x
				if left := max(i-10, 0); left > half {
					again[left] += p * x
					mass += p * x
				} else {
					next[left] += p * x
				}
			}
			start = again
		}
		start = next
	}
	return attempts / float64(calls)
}

// Every attempt that fails takes a token, and retries end at half of them: above a
// failure rate of ratio/(1+ratio), 0.0909 at 0.1, the bucket runs dry and calls make
// one attempt; below it they make 1/(1−p).
func TestGRPCBudgetLoad(t *testing.T) {
	statistics(t)
	require.InDelta(t, 0.090909, 0.1/1.1, 1e-6)
	require.InDelta(t, 1/0.97, grpcLoad(0.03, 20_000), 0.001, "far below")
	require.InDelta(t, 1, grpcLoad(0.2, 20_000), 0.002, "far above")
	const calls, seeds = 10_000, 10
	for _, p := range []float64{0.03, 0.07, 0.09, 0.1, 0.12, 0.2} {
		t.Run(fmt.Sprintf("p=%g", p), func(t *testing.T) {
			t.Parallel()
			longOnly(t, p != 0.09 && p != 0.2)
			var load sample
			for seed := range uint64(seeds) {
				f := sim.Fleet{Name: "client", Traffic: traffic.Traffic{Clients: 1, Calls: calls}}
				f.Program = simtest.Program(t, layers.GRPCBudget{MaxTokens: 10, Ratio: 100, Scope: strategies.PerClient}, layers.Retry{Backoff: backoffs.Fixed{Every: ms}})
				rep := simtest.Run(t, sim.Experiment{
					Fleets: []sim.Fleet{f}, Provider: failing(t, p, seed), Rand: draw.New(seed), Plan: metrics.Plan{Horizon: time.Hour},
				})
				load = append(load, float64(rep.Belief.Attempts)/calls)
			}
			load.agrees(t, "attempts for each call", reference{value: grpcLoad(p, calls)}, 0.02)
		})
	}
}
