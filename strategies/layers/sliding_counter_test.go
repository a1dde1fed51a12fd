package layers

import (
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestSlidingCounter(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{SlidingCounter{Limit: 2, Length: time.Minute, Scope: strategies.PerFleet}}, `
		@10s a: begin -> send
		b: begin -> send
		c: begin -> queued until 90s              # until the two weigh one: halfway through the next minute
		d: begin -> queued
		@90s c: admitted -> send
		d: admitted -> refused until 120s         # until they weigh nothing; the one of this minute weighs one
		@120s d: admitted -> send
		e: begin -> queued until 180s
		@10m e: admitted -> send
		f: begin -> send
		g: begin -> queued until 11m30s`)
}

// The pool agrees with fractions that never round, and says exactly when there
// will be room; no aligned window holds more than the limit, and no interval
// 2·limit.
func TestSlidingCounterAgainstNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 12).Draw(t, "limit")
		per := rapid.Int64Range(1, 1000).Draw(t, "length")
		p := twoCounters{limit, per}
		m := make([]int64, p.Words())
		var log []time.Duration
		fits := func(at time.Duration, n int64) bool {
			window, elapsed := int64(at)/per, int64(at)%per
			used, last := int64(0), int64(0)
			for _, s := range log {
				switch window - int64(s)/per {
				case 0:
					used++
				case 1:
					last++
				}
			}
			sum := big.NewRat(last*(per-elapsed), per)
			return sum.Add(sum, big.NewRat(used+n, 1)).Cmp(big.NewRat(limit, 1)) <= 0
		}
		now := time.Duration(0)
		for range 60 {
			now += time.Duration(rapid.Int64Range(0, per).Draw(t, "dt")) / time.Duration(limit)
			n := rapid.Int64Range(1, limit+1).Draw(t, "n")
			ok, readyAt := p.TryTake(now, m, uint32(n))
			require.Equal(t, fits(now, n), ok)
			switch {
			case ok:
				for range n {
					log = append(log, now)
				}
			case n > limit:
				require.Equal(t, strategies.Never, readyAt)
			default:
				require.Greater(t, readyAt, now)
				require.True(t, fits(readyAt, n), "not ready at %d", readyAt)
				require.False(t, fits(readyAt-1, n), "ready before %d", readyAt)
			}
		}
		for _, n := range strategytest.PerBin(log, time.Duration(per)) {
			require.LessOrEqual(t, int64(n), limit)
		}
		require.Less(t, int64(strategytest.MostWithin(log, time.Duration(per-1))), 2*limit)
	})
}

func TestSlidingCounterPut(t *testing.T) {
	p, m := twoCounters{2, int64(time.Minute)}, make([]int64, 3)
	takes := func(at time.Duration, n uint32, want bool) {
		t.Helper()
		ok, _ := p.TryTake(at, m, n)
		require.Equal(t, want, ok)
	}
	takes(0, 2, true)
	p.Put(1, m, 1)
	takes(1, 1, true)
	p.Put(time.Minute, m, 2) // too late: that window is over
	takes(time.Minute, 1, false)
}
