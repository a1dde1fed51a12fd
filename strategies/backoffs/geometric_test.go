package backoffs

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

// geometric agrees with 200-bit arithmetic up to the rounding of a few float64
// products, never exceeds its limit, and never decreases as n grows.
func TestGeometric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := max(1, rapid.Int64Range(1, math.MaxInt64).Draw(t, "base")>>rapid.IntRange(0, 62).Draw(t, "shift"))
		limit := rapid.Int64Range(0, math.MaxInt64).Draw(t, "limit") >> rapid.IntRange(0, 62).Draw(t, "limit shift")
		factor := rapid.OneOf(rapid.Float64Range(1, 3), rapid.SampledFrom([]float64{0, 1, 1.5, 1.6, 2, 10, 1000})).Draw(t, "factor")
		n := rapid.Int64Range(0, 200).Draw(t, "n")
		got := geometric(time.Duration(base), factor, n, time.Duration(limit))

		bound := time.Duration(limit)
		if bound == 0 {
			bound = strategies.Never
		}
		if factor == 0 {
			factor = 2
		}
		x, f := new(big.Float).SetPrec(200).SetInt64(base), new(big.Float).SetPrec(200).SetFloat64(factor)
		for range n {
			x.Mul(x, f)
		}
		want, _ := x.Float64()
		want = min(want, float64(bound))
		require.InDelta(t, want, float64(got), 1+want*1e-14)
		require.LessOrEqual(t, got, bound)
		require.GreaterOrEqual(t, got, geometric(time.Duration(base), factor, max(0, n-1), time.Duration(limit)))
	})
	require.Equal(t, strategies.Never, geometric(1, 1.0000001, math.MaxInt64, 0))
	require.Equal(t, time.Duration(7), geometric(7, 1, math.MaxInt64, 0))
}

func TestFactors(t *testing.T) {
	// cenkalti/backoff: 0.5 s, ×1.5, at most 60 s.
	low := strategytest.Seconds(0.5, 0.75, 1.125, 1.6875, 2.53125)
	requireBounds(t, Exponential{Base: time.Second / 2, Cap: time.Minute, Factor: 1.5}, low, low)
	high := strategytest.Seconds(1, 1.6, 2.56, 4, 4)
	requireBounds(t, FullJitter{Base: time.Second, Cap: 4 * time.Second, Factor: 1.6}, strategytest.Seconds(0, 0, 0, 0, 0), high)
	requireBounds(t, EqualJitter{Base: time.Second, Cap: 4 * time.Second, Factor: 1.6}, strategytest.Seconds(0.5, 0.8, 1.28, 2, 2), high)
}
