package layers

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestBusyHours(t *testing.T) {
	layers := []strategies.Layer{BusyHours{Percent: 50, Least: 2, HalfLife: 1, Scope: strategies.PerFleet}}
	strategytest.Play(t, layers, `
		@10h a: begin -> send
		a: 503 -> stop failed
		b: begin -> send                          # one failure is no habit
		b: 429 -> stop failed                     # one's own limit is nobody's rush hour; but half of two is
		@10h30m c: begin -> wait [30m,90m) + note put_off
		c: wake -> send
		@34h d: begin -> send                     # half of it is forgotten in a day: one attempt
		d: 200 -> stop succeeded
		e: begin -> send
		e: 503 -> stop failed                     # one of three
		f: begin -> send`)
	strategytest.Play(t, []strategies.Layer{BusyHours{Percent: 50, Least: 1, HalfLife: 1, Day: 2 * time.Second, Parts: 2, Scope: strategies.PerFleet}}, `
		@1s a: begin -> send
		a: 503 -> stop failed
		b: begin -> wait [1s,2s) + note put_off   # tomorrow's first hour
		@2s c: begin -> send
		c: 503 -> stop failed
		d: begin -> wait [1s,2s) + note put_off   # of yesterday's failure half is forgotten
		@3s e: begin -> send
		e: 503 -> stop failed
		f: begin -> send                          # all hours are alike`)
}

// Case B29: before a provider that refuses half of all attempts from ten to six,
// batch work that has learned that fails as rarely as at night.
func TestBusyHoursAreAvoided(t *testing.T) {
	day := func(layers ...strategies.Layer) (refused, done []int) {
		l := strategytest.NewLab(t, layers...)
		refused, done = make([]int, 8), make([]int, 8)
		l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
			hour := l.Now % aDay / time.Hour
			if hour >= 10 && hour < 18 && c.Float(999) < 0.5 {
				refused[l.Now/aDay]++
				return 0, strategytest.Refused(wire.Overloaded)
			}
			return 0, strategytest.Answered
		}
		l.Settled = func(c *strategytest.Caller, _ strategies.Decision) { done[c.Born/aDay]++ }
		for i := range 7 * 240 {
			l.At(time.Duration(i)*6*time.Minute, func() { l.Begin(fmt.Sprint("c", i), 0) })
		}
		l.Run(8 * aDay)
		return refused, done
	}
	naive, _ := day()
	require.InDelta(t, 280, naive[0]+naive[1]+naive[2]+naive[3]+naive[4]+naive[5]+naive[6], 55)
	learned, done := day(BusyHours{Percent: 20, Scope: strategies.PerFleet})
	for i := range 7 {
		require.Equal(t, 240, done[i], "put off, not lost")
	}
	require.InDelta(t, 40, learned[0], 25, "the first day is for learning")
	for i, n := range learned[1:7] {
		require.Less(t, n, 6, "day %d", i+2)
	}
}
