package backoffs

import (
	"testing"
	"time"

	"herdlab/strategies"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

func TestExponential(t *testing.T) {
	low := strategytest.Seconds(1, 2, 4, 8, 16, 32, 64, 64, 64)
	requireBounds(t, Exponential{Base: time.Second, Cap: 64 * time.Second}, low, low)
	requireBounds(t, Exponential{Base: time.Second, Cap: 64 * time.Second, Jitter: time.Second / 2},
		low, strategytest.Seconds(1.5, 2.5, 4.5, 8.5, 16.5, 32.5, 64.5, 64.5, 64.5))

	// A cap below the base is the wait.
	requireBounds(t, Exponential{Base: 8 * time.Second, Cap: 5 * time.Second}, strategytest.Seconds(5, 5), strategytest.Seconds(5, 5))

	// Without a cap, n waits add up to 2ⁿ−1 bases.
	requireTotals(t, Exponential{Base: time.Second}, 0, []total{
		{n: 3, mean: 7, least: 7, max: 7}, {n: 4, mean: 15, least: 15, max: 15}, {n: 5, mean: 31, least: 31, max: 31},
		{n: 6, mean: 63, least: 63, max: 63}, {n: 8, mean: 255, least: 255, max: 255},
	})
	requireTotals(t, Exponential{Base: time.Second, Cap: 20 * time.Second}, 0, []total{
		{n: 1, mean: 1, least: 1, max: 1}, {n: 2, mean: 3, least: 3, max: 3}, {n: 3, mean: 7, least: 7, max: 7},
		{n: 4, mean: 15, least: 15, max: 15}, {n: 5, mean: 31, least: 31, max: 31}, {n: 6, mean: 51, least: 51, max: 51},
		{n: 7, mean: 71, least: 71, max: 71}, {n: 8, mean: 91, least: 91, max: 91},
	})
	// With U(0, 0.5 s) added to each wait: n/4 s more, variance n·0.5²/12.
	requireTotals(t, Exponential{Base: time.Second, Jitter: time.Second / 2}, 0, []total{
		{n: 3, mean: 7.75, sd: 0.25, least: 7, max: 8.5}, {n: 4, mean: 16, sd: 0.288675, least: 15, max: 17},
		{n: 5, mean: 32.25, sd: 0.322749, least: 31, max: 33.5}, {n: 6, mean: 64.5, sd: 0.353553, least: 63, max: 66},
		{n: 8, mean: 257, sd: 0.408248, least: 255, max: 259},
	})
}

// In an outage of 48 h, a client that waits 1, 2, 4 … s up to an hour makes
// exactly 59 attempts: 13 in the first 4,095 s and then one each hour. If the
// doubling overflowed, the wait would be 0 after a day: a hot loop.
func TestExponentialOutlastsALongOutage(t *testing.T) {
	const outage = 48 * time.Hour
	x := strategytest.NewRetrier(t, layers.Retry{Backoff: Exponential{Base: time.Second, Cap: time.Hour}})
	x.Begin(1)
	attempts, late := 0, 0
	for now := time.Duration(0); now < outage && attempts < 1000; attempts++ {
		if now > 83_295*time.Second {
			late++
		}
		d := x.Refuse(now, -1)
		if d.Kind != strategies.Wait || d.After <= 0 || d.After > time.Hour {
			t.Fatalf("attempt %d at %v: %+v", attempts+1, now, d)
		}
		now += d.After
	}
	if attempts != 59 || late > 25 {
		t.Fatalf("%d attempts, %d of them late; want 59 and at most 25", attempts, late)
	}
}
