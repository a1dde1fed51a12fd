package backoffs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestProportional(t *testing.T) {
	// The SDKs of OpenAI and Anthropic: min(8, 0.5·2ⁿ)·(1 − U(0, 0.25)).
	x := Exponential{Base: time.Second / 2, Cap: 8 * time.Second}
	requireBounds(t, Proportional{Of: x, Low: 75, High: 100}, strategytest.Seconds(0.375, 0.75, 1.5, 3, 6, 6), strategytest.Seconds(0.5, 1, 2, 4, 8, 8))
	// The jitter applies after the cap: 30 s ± 30 % is up to 39 s.
	x = Exponential{Base: 5 * time.Second, Cap: 30 * time.Second}
	requireBounds(t, PlusMinus(x, 30), strategytest.Seconds(3.5, 7, 14, 21, 21), strategytest.Seconds(6.5, 13, 26, 39, 39))
	requireBounds(t, PlusMinus(Fixed{Every: time.Second / 2}, 50), strategytest.Seconds(0.25, 0.25), strategytest.Seconds(0.75, 0.75))
	// From 0 to 100 % is full jitter: half the sum, and the standard deviation
	// √((4ⁿ−1)/36).
	requireTotals(t, Proportional{Of: Exponential{Base: time.Second}, Low: 0, High: 100}, 0, []total{
		{n: 3, mean: 3.5, sd: 1.322876, max: 7}, {n: 5, mean: 15.5, sd: 5.330729, max: 31},
	})
}

// The jitter of the backoff inside is an independent draw: the product of two
// uniform draws has the mean 1/4 and the variance 1/9 − 1/16.
func TestProportionalOfAJitter(t *testing.T) {
	requireTotals(t, Proportional{Of: Fixed{Jitter: time.Second}, Low: 0, High: 100}, 0, []total{{n: 1, mean: 0.25, sd: 0.220479, max: 1}})
	nested := Proportional{Of: Proportional{Of: Fixed{Jitter: time.Second}, Low: 0, High: 100}, Low: 0, High: 100}
	requireTotals(t, nested, 0, []total{{n: 1, mean: 0.125, sd: 0.146331, max: 1}}) // 1/27 − 1/64
	base, jitter := Proportional{Of: Fixed{Every: strategies.Never}, Low: 1000, High: 1000}.Delay(&strategies.Call{}, 1, 0, 0)
	require.Equal(t, strategies.Never, base)
	require.Zero(t, jitter)
}
