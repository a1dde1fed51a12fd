package layers

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

// Case 11 (a) and (b): one call that fails with a budget of 100 % may retry; and
// of 1,000 that fail together with 20 %, 200 may, those in back-off counted. With
// the share taken of the attempts in flight only, as Envoy does, it is none and
// 166.
func TestEnvoyBudgetCountsTheRightPopulation(t *testing.T) {
	retries := func(calls, percent int, inFlightOnly bool) (n int) {
		w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {
			EnvoyBudget{Percent: percent, InFlightOnly: inFlightOnly, Scope: strategies.PerFleet},
			Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 2},
		}}, 1)
		for i := range calls {
			require.Equal(t, strategies.Send, w.Call(fmt.Sprint(i)).Next(strategies.Event{Kind: strategies.Begin}).Kind)
		}
		for i := range calls {
			switch d := w.Call(fmt.Sprint(i)).Next(strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: strategytest.Refusal(wire.NoHint)}); d.Kind {
			case strategies.Wait:
				n++
			default:
				require.Equal(t, strategies.StopWith(strategies.BudgetSpent, wire.Overloaded), d)
			}
		}
		return n
	}
	require.Equal(t, 1, retries(1, 100, false))
	require.Equal(t, 0, retries(1, 100, true))
	require.Equal(t, 200, retries(1000, 20, false))
	require.Equal(t, 166, retries(1000, 20, true))
}

func TestEnvoyBudget(t *testing.T) {
	retry := Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 3}
	strategytest.Play(t, []strategies.Layer{EnvoyBudget{Floor: 1, Scope: strategies.PerFleet}, retry}, `
		a: begin -> send
		b: begin -> send
		c: begin -> send
		a: 503 -> wait 1s
		b: 503 -> stop budget_spent
		a: wake -> send
		c: 503 -> stop budget_spent               # a's retry is in flight
		a: 503 -> wait 1s                         # it is over, and the next begins
		d: begin -> send
		d: 503 -> stop budget_spent
		a: cancelled -> stop withdrawn
		e: begin -> send
		e: 503 -> wait 1s
		e: wake -> send
		e: settled -> stop failed cancelled
		e: cancelled -> stop withdrawn
		f: begin -> send
		f: 503 -> wait 1s
		f: wake -> send
		f: 200 -> stop succeeded
		g: begin -> send
		g: 503 -> wait 1s`)
	// Half of four calls.
	strategytest.Play(t, []strategies.Layer{EnvoyBudget{Percent: 50, Scope: strategies.PerFleet}, retry}, `
		a: begin -> send
		b: begin -> send
		c: begin -> send
		d: begin -> send
		a: 503 -> wait 1s
		b: 503 -> wait 1s
		c: 503 -> stop budget_spent
		d: 503 -> stop budget_spent               # two of two by now
		a: wake -> send
		a: 200 -> stop succeeded
		b: wake -> send
		b: 503 -> stop budget_spent               # it is the only one under way
		e: begin -> send
		e: 503 -> stop budget_spent`)
}

// When all calls are over, nothing is counted any more, whatever became of them.
func TestEnvoyBudgetConserves(t *testing.T) {
	for _, stack := range [][]strategies.Layer{
		{EnvoyBudget{Percent: 50, Floor: 2, Scope: strategies.PerFleet}, Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 4}},
		{EnvoyBudget{Percent: 50, Floor: 2, InFlightOnly: true, Scope: strategies.PerFleet}, Concurrency{Permits: 5, Scope: strategies.PerFleet}, Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 4}},
		{Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 4}, EnvoyBudget{Percent: 50, Floor: 2, Scope: strategies.PerFleet}, Concurrency{Permits: 5, Scope: strategies.PerFleet}},
	} {
		l := strategytest.NewLab(t, stack...)
		luck := l.Call("x").Driver().Rand
		l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
			if luck.For(c.ID).Float(uint64(c.Attempts)) < 0.6 {
				return time.Second, strategytest.Refused(wire.Overloaded)
			}
			return time.Second, strategytest.Answered
		}
		over := map[*strategytest.Caller]bool{}
		l.Settled = func(c *strategytest.Caller, _ strategies.Decision) { over[c] = true }
		for i := range 500 {
			l.At(time.Duration(i)*100*time.Millisecond, func() {
				c := l.Begin("a", i)
				if i%3 == 0 {
					l.At(l.Now+luck.Uniform(uint64(i), 0, 4*time.Second), func() {
						if !over[c] {
							over[c] = true
							l.Withdraw(c)
						}
					})
				}
			})
		}
		l.Run(time.Hour)
		require.Len(t, over, 500)
		require.Equal(t, make([]int64, len(l.Fleets[""].Words)), l.Fleets[""].Words)
	}
}
