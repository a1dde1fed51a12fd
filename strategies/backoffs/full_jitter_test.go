package backoffs

import (
	"testing"
	"time"

	"herdlab/strategies/strategytest"
)

func TestFullJitter(t *testing.T) {
	zero := make([]time.Duration, 9)
	requireBounds(t, FullJitter{Base: time.Second, Cap: 64 * time.Second}, zero, strategytest.Seconds(1, 2, 4, 8, 16, 32, 64, 64, 64))
	// gRPC: retry n waits U(0, min(initial·multiplierⁿ⁻¹, max)).
	requireBounds(t, FullJitter{Base: time.Second, Factor: 1.5, Cap: 5 * time.Second}, zero[:6], strategytest.Seconds(1, 1.5, 2.25, 3.375, 5, 5))

	// The mean is half of the wait without jitter; variance Σ 4ᵏ/12 = (4ⁿ−1)/36.
	requireTotals(t, FullJitter{Base: time.Second}, 0, []total{
		{n: 3, mean: 3.5, sd: 1.322876, max: 7}, {n: 4, mean: 7.5, sd: 2.661453, max: 15},
		{n: 5, mean: 15.5, sd: 5.330729, max: 31}, {n: 6, mean: 31.5, sd: 10.665365, max: 63},
		{n: 8, mean: 127.5, sd: 42.666341, max: 255},
	})
	// Capped at 20 s, the means are half of 1, 3, 7, 15, 31, 51, 71, 91.
	requireTotals(t, FullJitter{Base: time.Second, Cap: 20 * time.Second}, 0, []total{
		{n: 5, mean: 15.5, sd: 5.330729, max: 31},
		{n: 6, mean: 25.5, sd: 7.858117, max: 51},  // variance 341/12 + 400/12
		{n: 8, mean: 45.5, sd: 11.332108, max: 91}, // and 1200/12,
	})
}
