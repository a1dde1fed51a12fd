package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

const aDay = 24 * time.Hour

func TestDailyBudget(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{DailyBudget{Quota: 4, Percent: 50, Offset: 8 * time.Hour, Scope: strategies.PerFleet}}, `
		a: begin -> send
		b: begin -> send
		c: begin -> queued until 8h               # when the quota is reset
		d: begin -> queued
		@8h c: admitted -> send
		d: admitted -> send
		e: begin -> queued until 32h
		e: cancelled -> stop withdrawn
		f: begin -> queued until 32h
		@100h f: admitted -> send                 # the days in between save nothing up
		g: begin -> send
		h: begin -> queued until 104h`)
	strategytest.Play(t, []strategies.Layer{DailyBudget{Quota: 4, Percent: 50, Carry: 3, Scope: strategies.PerFleet}}, `
		a: begin -> send
		@24h b: begin -> send                     # one of yesterday's two is left, and two for today
		c: begin -> send
		d: begin -> send
		e: begin -> queued until 48h
		@240h e: admitted -> send                 # saved up to three, and two for today
		a: begin -> send
		b: begin -> send
		c: begin -> send
		d: begin -> send
		f: begin -> queued until 264h`)
}

// Case A18: 10,000 items at 70 % of a daily quota Q take ⌈10,000/(0.7·Q)⌉ days,
// because what a day leaves of a unit goes to the next.
func TestDailyBudgetTakesAWeek(t *testing.T) {
	for quota, days := range map[int64]int{500: 29, 1000: 15, 2000: 8, 2040: 8, 2041: 7, 2100: 7, 2380: 7, 2381: 6, 5000: 3} {
		p, err := strategies.Compile(strategies.Definition{Name: "x", Layers: []strategies.Layer{DailyBudget{Quota: quota, Scope: strategies.PerFleet}}}, nil)
		require.NoError(t, err)
		pool, m, now, last := p.Pools[0].Pool, make([]int64, 2), time.Duration(0), time.Duration(0)
		var inDay int64
		for range 10_000 {
			ok, readyAt := pool.TryTake(now, m, 1)
			if !ok {
				require.Equal(t, now/aDay*aDay+aDay, readyAt)
				require.LessOrEqual(t, inDay, quota*7/10+1)
				now, inDay = readyAt, 0
				ok, _ = pool.TryTake(now, m, 1)
				require.True(t, ok)
			}
			inDay, last = inDay+1, now
		}
		require.Equal(t, days, int(last/aDay)+1, "quota %d", quota)
	}
}

func TestDailyBudgetPut(t *testing.T) {
	p, m := dailyPool{daily: 250, carry: 0, per: aDay}, make([]int64, 2)
	takes := func(at time.Duration, n uint32, want bool) {
		t.Helper()
		ok, _ := p.TryTake(at, m, n)
		require.Equal(t, want, ok)
	}
	takes(0, 2, true)
	takes(0, 1, false)
	p.Put(0, m, 1)
	takes(0, 1, true)
	takes(aDay, 3, true) // two and a half, and the half of yesterday
	takes(aDay, 1, false)
	ok, readyAt := p.TryTake(aDay, m, 4)
	require.False(t, ok)
	require.Equal(t, strategies.Never, readyAt, "more than any day has")
	takes(1000*aDay, 3, true)
}
