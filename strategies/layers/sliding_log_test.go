package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestSlidingLog(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{SlidingLog{Limit: 2, Length: time.Minute, Scope: strategies.PerFleet}}, `
		a: begin -> send
		@20s b: begin -> send
		c: begin -> queued until 60.000000001s    # one made exactly a minute ago still counts
		d: begin -> queued
		c: cancelled -> stop withdrawn            # and costs nothing
		@60s d: admitted -> refused until 60.000000001s
		@61s d: admitted -> send
		e: begin -> queued until 80.000000001s
		@5m e: admitted -> send
		f: begin -> send
		g: begin -> queued until 6m0.000000001s`)
}

// The ring of stamps is a list of times, of which those no older than the
// interval count; and no closed interval ever holds more than the limit.
func TestSlidingLogAgainstNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		length := time.Duration(rapid.Int64Range(1, 1000).Draw(t, "length"))
		p := stamps{limit, length}
		m := make([]int64, p.Words())
		var log []time.Duration
		now := time.Duration(0)
		for range 80 {
			now += time.Duration(rapid.Int64Range(0, int64(length)).Draw(t, "dt")) / time.Duration(limit)
			n := rapid.IntRange(0, limit+1).Draw(t, "n")
			if rapid.IntRange(0, 9).Draw(t, "puts") == 0 { // the newest is taken back
				p.Put(now, m, uint32(n))
				log = log[:len(log)-min(n, len(log))]
			}
			// The earliest time at which n more fit.
			want := now
			if count := n + len(log) - limit; n > 0 && count > 0 && count <= len(log) {
				want = max(now, log[count-1]+length+1)
			}
			ok, readyAt := p.TryTake(now, m, uint32(n))
			switch {
			case n > limit:
				require.False(t, ok)
				require.Equal(t, strategies.Never, readyAt)
			case want > now:
				require.False(t, ok)
				require.Equal(t, want, readyAt)
			default:
				require.True(t, ok)
				for range n {
					log = append(log, now)
				}
			}
		}
		require.LessOrEqual(t, strategytest.MostWithin(log, length), limit)
	})
}

// Case A11: a client that keeps below 100 a minute never meets a limit of 120,
// be the provider's window sliding or fixed, and keeps to its hundred.
func TestSlidingLogBelowAWindow(t *testing.T) {
	l := strategytest.NewLab(t, SlidingLog{Limit: 100, Length: time.Minute, Scope: strategies.PerFleet})
	l.ClosedLoop(5, 0)
	l.Run(10 * time.Minute)
	require.Equal(t, 100, strategytest.MostWithin(l.Sent, time.Minute))
	for _, n := range strategytest.PerBin(l.Sent, time.Minute) {
		require.LessOrEqual(t, n, 120)
	}
	// A burst of 100 in each minute but for the nanosecond: ten in all.
	require.Equal(t, 1000, len(l.Sent))
}
