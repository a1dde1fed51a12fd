package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestGCRA(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{GCRA{Rate: 2, Per: time.Second, Burst: 2, Scope: strategies.PerFleet}}, `
		a: begin -> send
		b: begin -> send                          # half a second early, as the burst allows
		c: begin -> queued until 500ms
		d: begin -> queued
		c: cancelled -> stop withdrawn            # and costs nothing
		@500ms d: admitted -> send
		e: begin -> queued until 1s
		@5s e: admitted -> send                   # a pause saves up a burst and no more
		f: begin -> send
		g: begin -> queued until 5.5s`)
}

func TestGCRARows(t *testing.T) {
	p, m := cells{interval: int64(d), burst: 3}, make([]int64, 1)
	for i, row := range []take{
		{t0, 4, false, strategies.Never},
		{t0, 2, true, t0},
		{t0, 2, false, t1},
		{t0, 1, true, t0},
		{t0, 1, false, t1},
		{t1, 1, true, t1},
		{t1, 3, false, t4},
		{t4, 3, true, t4},
	} {
		ok, readyAt := p.TryTake(row.t, m, row.n)
		require.Equal(t, row, take{row.t, row.n, ok, readyAt}, "row %d", i+1)
	}
	p.Put(t4, m, 2)
	ok, _ := p.TryTake(t4, m, 2)
	require.True(t, ok)
	p.Put(t9, m, 3) // it was full by itself
	ok, _ = p.TryTake(t9, m, 3)
	require.True(t, ok)
	ok, _ = p.TryTake(t9, m, 1)
	require.False(t, ok)
}

// Where the interval is a whole number of nanoseconds, GCRA and the token
// bucket are the same limit: they let the same attempts through, and name the
// same times to those that must wait.
func TestGCRAIsATokenBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := rapid.Int64Range(1, 1e9).Draw(t, "interval")
		burst := rapid.Int64Range(1, 10).Draw(t, "burst")
		g, b := cells{interval, burst}, bucketOf(1, time.Duration(interval), burst)
		gm, bm := make([]int64, 1), make([]int64, 2)
		now := time.Duration(0)
		for range 60 {
			now += time.Duration(rapid.Int64Range(0, 2*interval).Draw(t, "dt"))
			n := rapid.Uint32Range(0, uint32(burst)+1).Draw(t, "n")
			if rapid.IntRange(0, 9).Draw(t, "puts") == 0 {
				g.Put(now, gm, n)
				_, _ = b.TryTake(now, bm, 0) // a bucket that is given to must be told the time
				b.Put(now, bm, n)
			}
			gok, gat := g.TryTake(now, gm, n)
			bok, bat := b.TryTake(now, bm, n)
			require.Equal(t, bok, gok)
			require.Equal(t, bat, gat)
		}
	})
}
