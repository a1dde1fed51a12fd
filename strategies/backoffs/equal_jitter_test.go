package backoffs

import (
	"testing"
	"time"

	"herdlab/strategies/strategytest"
)

func TestEqualJitter(t *testing.T) {
	requireBounds(t, EqualJitter{Base: time.Second, Cap: 64 * time.Second},
		strategytest.Seconds(0.5, 1, 2, 4, 8, 16, 32, 32, 32), strategytest.Seconds(1, 2, 4, 8, 16, 32, 64, 64, 64))
	// An odd nanosecond belongs to the drawn half: e/2 + U(0, e−e/2) stays below e.
	requireBounds(t, EqualJitter{Base: 3}, []time.Duration{1}, []time.Duration{3})

	// The mean is three quarters of the wait without jitter, the standard deviation
	// half of that of full jitter.
	requireTotals(t, EqualJitter{Base: time.Second}, 0, []total{
		{n: 3, mean: 5.25, sd: 0.661438, least: 3.5, max: 7}, {n: 4, mean: 11.25, sd: 1.330727, least: 7.5, max: 15},
		{n: 5, mean: 23.25, sd: 2.665364, least: 15.5, max: 31}, {n: 6, mean: 47.25, sd: 5.332682, least: 31.5, max: 63},
		{n: 8, mean: 191.25, sd: 21.333171, least: 127.5, max: 255},
	})
	requireTotals(t, EqualJitter{Base: time.Second, Cap: 20 * time.Second}, 0, []total{
		{n: 8, mean: 68.25, sd: 5.666054, least: 45.5, max: 91},
	})
}
