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

func TestBrookerBudget(t *testing.T) {
	retry := Retry{Backoff: backoffs.Fixed{}, MaxAttempts: 4}
	// Five tokens, and a retry needs more than one: four retries from full. The
	// deposits of full calls are lost.
	x := strategytest.NewOneClient(t, BrookerBudget{Size: 5, Deposit: 100, Scope: strategies.PerClient}, retry)
	for range 20 {
		require.Equal(t, 1, x.Calls(wire.OK))
	}
	require.Equal(t, 4, x.Calls(wire.Overloaded))
	require.Equal(t, 3, x.Calls(wire.Overloaded), "2.1 tokens, then 1.1, then 0.1")
	for range 9 { // 0.1 for each, up to exactly 1.0
		require.Equal(t, 1, x.Calls(wire.Overloaded))
	}
	require.Equal(t, 2, x.Calls(wire.Overloaded))

	// By the text, successes make the deposits.
	x = strategytest.NewOneClient(t, BrookerBudget{Size: 5, Deposit: 100, OnSuccess: true, Scope: strategies.PerClient}, retry)
	require.Equal(t, 4, x.Calls(wire.Overloaded))
	require.Equal(t, 2, x.Calls(wire.Overloaded), "from two tokens to one")
	for range 30 {
		require.Equal(t, 1, x.Calls(wire.Overloaded))
	}
	require.Equal(t, 1, x.Calls(wire.OK))
	require.Equal(t, 2, x.Calls(wire.Overloaded))
}

// In an outage n calls of one client make 1.1 + 4/n attempts each; at a failure
// rate above the knee the share of successes is (1 − f) times the load.
func TestBrookerBudgetClosedForm(t *testing.T) {
	for _, f := range []float64{0.3, 0.5, 0.75, 1} {
		const clients, calls = 100, 100
		l := strategytest.NewLab(t, BrookerBudget{Size: 5, Deposit: 100, Scope: strategies.PerClient}, Retry{Backoff: backoffs.Fixed{}, MaxAttempts: 4})
		succeeded := 0
		l.Settled = func(_ *strategytest.Caller, d strategies.Decision) {
			if d.End.Reason == strategies.Succeeded {
				succeeded++
			}
		}
		l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
			if c.Driver().Rand.For(c.ID).Float(uint64(c.Attempts)<<40) < f {
				return time.Millisecond, strategytest.Refused(wire.Overloaded)
			}
			return time.Millisecond, strategytest.Answered
		}
		for k := range clients {
			for i := range calls {
				l.At(time.Duration(i)*100*time.Millisecond, func() { l.Begin(fmt.Sprint(k), i) })
			}
		}
		l.Run(time.Hour)
		load := float64(len(l.Sent)) / (clients * calls)
		require.InDelta(t, 1.1+4.0/calls, load, 0.01, "f = %v", f)
		require.InDelta(t, (1-f)*(1.1+4.0/calls), float64(succeeded)/(clients*calls), 0.02, "f = %v", f)
	}
}

// Of 3 tokens 2 may be spent, and each call brings half a one.
func TestBrookerBudgetScript(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{BrookerBudget{Size: 3, Deposit: 500, Scope: strategies.PerClient}, Retry{Backoff: backoffs.Fixed{Every: time.Second}}}, `
		a.1: begin -> send             # 3, and no more
		a.1: 503 -> wait 1s            # 2
		a.1: wake -> send
		a.1: 503 -> wait 1s            # 1
		a.1: wake -> send
		a.1: 503 -> stop budget_spent
		a.2: begin -> send             # 1.5
		a.2: 503 -> wait 1s            # 0.5
		a.2: wake -> send
		a.2: 200 -> stop succeeded     # an answer brings nothing
		a.3: begin -> send             # 1
		a.3: 503 -> stop budget_spent
	`)
}
