package backoffs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// A cap around the jitter removes it (ferd/backoff#8). With a cap inside the jitter,
// a wait exceeds the cap by the jitter (cenkalti/backoff#117).
func TestCapped(t *testing.T) {
	doubling := Exponential{Base: time.Second, Jitter: time.Second}
	requireBounds(t, Capped{Of: doubling, Cap: 5 * time.Second}, strategytest.Seconds(1, 2, 4, 5, 5), strategytest.Seconds(2, 3, 5, 5, 5))
	doubling.Cap = 5 * time.Second
	requireBounds(t, doubling, strategytest.Seconds(1, 2, 4, 5, 5), strategytest.Seconds(2, 3, 5, 6, 6))
	requireBounds(t, PlusMinus(Exponential{Base: time.Second, Cap: 4 * time.Second}, 50), strategytest.Seconds(0.5, 1, 2, 2), strategytest.Seconds(1.5, 3, 6, 6))
	requireBounds(t, Capped{Of: Fixed{Every: time.Hour}, Cap: time.Minute}, strategytest.Seconds(60), strategytest.Seconds(60))
}

// p-retry in the Gemini SDK: min(60 s, 1 s·2ⁿ·U(1, 2)).
func TestCappedProportional(t *testing.T) {
	b := Capped{Of: Proportional{Of: Exponential{Base: time.Second}, Low: 100, High: 200}, Cap: time.Minute}
	x := strategytest.NewRetrier(t, layers.Retry{Backoff: b})
	atCap := 0
	for id := range uint64(1000) {
		for k, w := range x.Waits(id, 9) {
			low := min(time.Minute, time.Second<<k)
			require.GreaterOrEqual(t, w, low)
			require.LessOrEqual(t, w, min(time.Minute, 2*low))
			if k == 5 && w == time.Minute {
				atCap++
			}
		}
	}
	require.InDelta(t, 125, atCap, 50) // 32·U(1, 2) > 60: one in eight
}
