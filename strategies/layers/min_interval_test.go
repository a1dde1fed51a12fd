package layers

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

func TestMinInterval(t *testing.T) {
	interval := MinInterval{Every: 300 * time.Millisecond, Scope: strategies.PerClient}
	strategytest.Play(t, []strategies.Layer{interval}, `
		a.1: begin -> send
		a.2: begin -> queued until 300ms
		a.3: begin -> queued
		b: begin -> send                          # another process knows nothing of it
		a.2: cancelled -> stop withdrawn
		@300ms a.3: admitted -> send
		@5s a.1: begin -> send                    # idle time saves nothing up
		a.2: begin -> queued until 5.3s`)
	retry := Retry{Backoff: backoffs.Fixed{}}
	strategytest.Play(t, []strategies.Layer{retry, interval}, `
		begin -> send
		503 -> wait 0s
		wake -> queued until 300ms`)
	strategytest.Play(t, []strategies.Layer{interval, retry}, `
		begin -> send
		503 -> wait 0s                            # the template's mistake: retries are not paced
		wake -> send`)
}

// Gaps are Every + U(0, Jitter): of 2,000, they come near both ends and not
// beyond. A line of waiters does not change that.
func TestMinIntervalJitter(t *testing.T) {
	l := strategytest.NewLab(t, MinInterval{Every: 200 * time.Millisecond, Jitter: 20 * time.Millisecond, Scope: strategies.PerFleet})
	for i := range 2000 {
		l.At(0, func() { l.Begin("a", i) })
	}
	l.Run(time.Hour)
	require.Equal(t, 2000, len(l.Sent))
	var gaps []time.Duration
	for i := range l.Sent[1:] {
		gaps = append(gaps, l.Sent[i+1]-l.Sent[i])
	}
	require.GreaterOrEqual(t, slices.Min(gaps), 200*time.Millisecond)
	require.Less(t, slices.Min(gaps), 200200*time.Microsecond)
	require.Less(t, slices.Max(gaps), 220*time.Millisecond)
	require.Greater(t, slices.Max(gaps), 219800*time.Microsecond)
	mean := l.Sent[1999] / 1999
	require.InDelta(t, 0.21, mean.Seconds(), 0.0006) // four standard errors of 20 ms/√12/√1999
}

func TestGapRows(t *testing.T) {
	p, m := gap{d}, make([]int64, 1)
	for i, row := range []take{
		{t0, 2, true, t0}, // two at once are two gaps
		{t1, 1, false, t2},
		{t2, 1, true, t2},
		{t9, 1, true, t9},
	} {
		ok, readyAt := p.TryTake(row.t, m, row.n)
		require.Equal(t, row, take{row.t, row.n, ok, readyAt}, "row %d", i+1)
	}
	p.Put(t9, m, 1)
	ok, _ := p.TryTake(t9, m, 1<<31)
	require.True(t, ok, "the gap was given back")
	p = gap{strategies.Never / 2}
	ok, _ = p.TryTake(strategies.Never-1, m, 3)
	require.True(t, ok)
	require.Equal(t, int64(strategies.Never), m[0], "saturated")
}
