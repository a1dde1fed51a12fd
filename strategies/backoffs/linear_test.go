package backoffs

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestLinear(t *testing.T) {
	low := strategytest.Seconds(1, 3, 5, 7, 8, 8)
	requireBounds(t, Linear{First: time.Second, Step: 2 * time.Second, Cap: 8 * time.Second}, low, low)
	requireBounds(t, Linear{First: time.Second, Step: 2 * time.Second, Cap: 8 * time.Second, Jitter: time.Second}, low, strategytest.Seconds(2, 4, 6, 8, 9, 9))
	// The sum of n waits of first + k·step is n·first + step·n(n−1)/2.
	requireTotals(t, Linear{First: 2 * time.Second, Step: time.Second}, 0, []total{
		{n: 3, mean: 9, least: 9, max: 9}, {n: 8, mean: 44, least: 44, max: 44},
	})
	for _, l := range []Linear{{Step: strategies.Never}, {First: strategies.Never, Step: 1}, {Step: 1}} {
		for _, retry := range []int64{1, 2, 1 << 40, math.MaxInt64} {
			base, _ := l.Delay(&strategies.Call{}, 1, retry, 0)
			require.GreaterOrEqual(t, base, time.Duration(1), "%+v after %d", l, retry)
		}
	}
}
