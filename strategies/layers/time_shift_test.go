package layers

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

func TestTimeShift(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{TimeShift{Every: aDay, At: 9*time.Hour + 47*time.Minute}}, `
		a: begin -> wait 9h47m
		@9h30m b: begin -> wait 17m
		@10h c: begin -> wait 23h47m              # too late for today
		a: cancelled -> stop withdrawn
		c: wake -> send`)
	strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Fixed{Every: time.Second}}, TimeShift{Window: time.Minute}}, `
		begin -> wait [0s,60s)
		wake -> send
		503 -> wait 1s                            # a retry is not moved again
		wake -> send`)
	strategytest.Play(t, []strategies.Layer{strategytest.Asking{Demand: wire.Demand{Priority: 1}}, TimeShift{Window: time.Minute, Priority: 2}}, `
		begin -> send`) // too urgent to wait
}

// A client's steady offset is drawn once; the offsets of many are even over the
// window, and belong to the client.
func TestTimeShiftSteady(t *testing.T) {
	l := strategytest.NewLab(t, TimeShift{Window: time.Minute, Steady: true})
	var offsets []time.Duration
	for i := range 2000 {
		name := string(rune('a'+i%26)) + string(rune('a'+i/26))
		c := l.Begin(name, 0)
		first := c.WakesAt - l.Now
		offsets = append(offsets, first)
		l.Now += time.Hour
		c = l.Begin(name, 1)
		require.Equal(t, first, c.WakesAt-l.Now)
		l.Now = 0
	}
	require.Less(t, slices.Min(offsets), 300*time.Millisecond)
	require.Greater(t, slices.Max(offsets), 59700*time.Millisecond)
	sum := time.Duration(0)
	for _, o := range offsets {
		sum += o
	}
	require.InDelta(t, 30, (sum / 2000).Seconds(), 1.6) // four standard errors
}
