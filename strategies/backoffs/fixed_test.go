package backoffs

import (
	"testing"

	"herdlab/strategies/strategytest"
)

func TestFixed(t *testing.T) {
	naive := strategytest.Seconds(0, 0, 0)
	requireBounds(t, Fixed{}, naive, naive)
	even := strategytest.Seconds(30, 30, 30)
	requireBounds(t, Fixed{Every: even[0]}, even, even)
	jitter := strategytest.Seconds(0.5)[0]
	requireBounds(t, Fixed{Every: even[0], Jitter: jitter}, even, strategytest.Seconds(30.5, 30.5, 30.5))

	// n waits of 30 s + U(0, 30 s): mean 45n, variance n·30²/12.
	requireTotals(t, Fixed{Every: even[0], Jitter: even[0]}, 0, []total{
		{n: 1, mean: 45, sd: 8.660254, least: 30, max: 60},
		{n: 3, mean: 135, sd: 15, least: 90, max: 180},
	})
}
