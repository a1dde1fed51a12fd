package backoffs

import (
	"testing"

	"herdlab/strategies/strategytest"
)

func TestUniform(t *testing.T) {
	low, high := strategytest.Seconds(90, 90, 90), strategytest.Seconds(150, 150, 150)
	b := Uniform{Low: low[0], High: high[0]}
	requireBounds(t, b, low, high)
	requireBounds(t, Uniform{Low: low[0], High: low[0]}, low, low)

	// Mean 120n, variance n·60²/12.
	requireTotals(t, b, 0, []total{
		{n: 1, mean: 120, sd: 17.320508, least: 90, max: 150},
		{n: 4, mean: 480, sd: 34.641016, least: 360, max: 600},
	})
}
