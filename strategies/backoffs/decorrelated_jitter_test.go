package backoffs

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies/strategytest"
)

func TestDecorrelatedJitter(t *testing.T) {
	// The k-th wait is at most 3ᵏ bases.
	requireBounds(t, DecorrelatedJitter{Base: time.Second}, strategytest.Seconds(1, 1, 1, 1), strategytest.Seconds(3, 9, 27, 81))
	capped := DecorrelatedJitter{Base: time.Second, Cap: 2 * time.Second}
	requireBounds(t, capped, strategytest.Seconds(1, 1, 1), []time.Duration{2*time.Second + 1, 2*time.Second + 1, 2*time.Second + 1})
	// A cap below the base is the wait.
	requireBounds(t, DecorrelatedJitter{Base: 8 * time.Second, Cap: 5 * time.Second}, strategytest.Seconds(5, 5), strategytest.Seconds(5, 5))

	// The mean of wait k is 2·1.5ᵏ − 1 bases; the mean of the sum of the first n waits
	// is 6(1.5ⁿ − 1) − n bases.
	var totals []total
	for n := 1; n <= 5; n++ {
		mean := 6*(math.Pow(1.5, float64(n))-1) - float64(n)
		totals = append(totals, total{n: n, mean: mean, sd: -1, least: float64(n), max: 1.5 * (math.Pow(3, float64(n)) - 1)})
	}
	require.InDelta(t, 34.5625, totals[4].mean, 1e-12)
	requireTotals(t, DecorrelatedJitter{Base: time.Second}, 1e-12, totals)

	// With a cap there is no closed form: the expected means come from a simulation by
	// another program and are accurate to ±0.03.
	for limit, means := range map[time.Duration][]float64{
		20 * time.Second: {2.000, 5.500, 11.239, 19.440, 29.447, 40.633, 52.566, 64.965},
		60 * time.Second: {2.000, 5.500, 11.250, 20.368, 33.978, 52.039, 73.838, 98.578},
	} {
		totals = nil
		for i, mean := range means {
			n := i + 1
			totals = append(totals, total{n: n, mean: mean, sd: -1, least: float64(n), max: float64(n) * limit.Seconds()})
		}
		requireTotals(t, DecorrelatedJitter{Base: time.Second, Cap: limit}, 0.03, totals)
	}
}
