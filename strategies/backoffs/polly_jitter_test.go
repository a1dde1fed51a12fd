package backoffs

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// The sum of the waits telescopes: after n waits it is x(t)/1.4 bases with t in
// [n−1, n), independent of the earlier draws.
func TestPollyJitter(t *testing.T) {
	at := func(t float64) float64 { return math.Exp2(t) * math.Tanh(math.Sqrt(4*t)) / 1.4 }
	x := strategytest.NewRetrier(t, layers.Retry{Backoff: PollyJitter{Base: 2 * time.Second}})
	const calls, n = 4000, 10
	var sums [n]float64
	for id := range uint64(calls) {
		sum := 0.0
		for k, w := range x.Waits(id, n) {
			require.GreaterOrEqual(t, w, time.Duration(0))
			sum += w.Seconds() / 2
			require.GreaterOrEqual(t, sum+1e-6, at(float64(k)), "wait %d", k+1)
			require.LessOrEqual(t, sum-1e-6, at(float64(k+1)), "wait %d", k+1)
			sums[k] += sum / calls
		}
	}
	for k := range n {
		mean := 0.0 // of x/1.4 over the k-th unit of t
		for i := range 1000 {
			mean += at(float64(k)+(float64(i)+0.5)/1000) / 1000
		}
		require.InDelta(t, mean, sums[k], 0.02*mean, "after %d waits", k+1)
	}
	// In the long run tanh is 1 and the mean of 2ᵗ over [n, n+1) is 2ⁿ/ln 2.
	require.InDelta(t, 256/(1.4*math.Ln2), sums[9]-sums[8], 10, "mean of the tenth wait")
	for _, w := range strategytest.NewRetrier(t, layers.Retry{Backoff: PollyJitter{Base: time.Second, Cap: time.Minute}}).Waits(1, 3000) {
		require.LessOrEqual(t, w, time.Minute)
	}
	for _, w := range strategytest.NewRetrier(t, layers.Retry{Backoff: PollyJitter{Base: time.Second}}).Waits(1, 2000)[50:] {
		require.Equal(t, strategies.Never, w)
	}
}
