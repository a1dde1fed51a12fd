package backoffs

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// The waits are exponential: the standard deviation equals the mean, the median is
// ln 2 times the mean, and waits are independent of each other.
func TestMemoryless(t *testing.T) {
	requireTotals(t, Memoryless{Mean: 2 * time.Second}, 0, []total{
		{n: 1, mean: 2, sd: 2, max: math.Inf(1)}, {n: 4, mean: 8, sd: 4, max: math.Inf(1)},
	})
	const calls = 20_000
	var waits []time.Duration
	x := strategytest.NewRetrier(t, layers.Retry{Backoff: Memoryless{Mean: 2 * time.Second}})
	for id := range uint64(calls) {
		waits = append(waits, x.Waits(id, 1)...)
	}
	slices.Sort(waits)
	require.InDelta(t, 2*math.Ln2, waits[calls/2].Seconds(), 4.5*2/math.Sqrt(calls))
	require.InDelta(t, 2*math.Ln10, waits[calls*9/10].Seconds(), 4.5*6/math.Sqrt(calls))
}
