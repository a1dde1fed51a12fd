package layers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

// standardQuota is that of the standard mode before 2026, newQuota after.
var (
	standardQuota = AWSBudget{Capacity: 500, Cost: 5, Other: strategies.ClassesOf(wire.Timeout), OtherCost: 10, Scope: strategies.PerClient}
	newQuota      = AWSBudget{Capacity: 500, Cost: 14, Other: strategies.Limits, OtherCost: 5, Scope: strategies.PerClient}
)

// From a full bucket, an outage brings exactly 500/5 = 100 retries and then none:
// 50 calls of three attempts, and single ones.
func TestAWSBudgetInAnOutage(t *testing.T) {
	for _, c := range []struct {
		budget  AWSBudget
		class   wire.Class
		retries int
	}{
		{standardQuota, wire.Overloaded, 100}, {standardQuota, wire.Timeout, 50},
		{newQuota, wire.Overloaded, 35}, {newQuota, wire.Rate, 100},
	} {
		x := strategytest.NewOneClient(t, c.budget, Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 3})
		retries := 0
		for range 200 {
			retries += x.Calls(c.class) - 1
		}
		require.Equal(t, c.retries, retries, "%+v after %v", c.budget, c.class)
		// Each success at the first try brings 1.
		for range c.budget.Cost {
			require.Equal(t, 1, x.Calls(wire.OK))
		}
		if c.class == wire.Overloaded {
			require.Equal(t, 2, x.Calls(c.class), "%+v", c.budget)
		}
	}
}

// A success after retries gives back what the last one cost, and no more.
func TestAWSBudgetRefunds(t *testing.T) {
	x := strategytest.NewOneClient(t, standardQuota, Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 4})
	missing := &x.Caller.Driver().Memory[strategies.PerClient][0]
	step := func(class wire.Class, want int64) {
		t.Helper()
		o := strategytest.Refusal(wire.NoHint)
		o.Class = class
		if d := x.Caller.Next(strategies.Event{Kind: strategies.Reply, Attempt: x.Caller.Attempts, Outcome: o}); d.Kind == strategies.Wait {
			x.Caller.Next(strategies.Event{Kind: strategies.Wake})
		}
		require.Equal(t, want, *missing)
	}
	x.Caller.Next(strategies.Event{Kind: strategies.Begin})
	step(wire.Overloaded, 5)
	step(wire.Timeout, 15)
	step(wire.OK, 5) // the 10 of the timeout are back, the 5 before are spent
	x.Caller.Next(strategies.Event{Kind: strategies.Begin})
	step(wire.OK, 4)
	x.Caller.Next(strategies.Event{Kind: strategies.Begin})
	step(wire.Auth, 4)
	for range 9 {
		x.Calls(wire.OK)
	}
	require.Zero(t, *missing, "a full bucket takes no more")
}

// The bucket empties if 5·(f² + f³) > 1 − f for three attempts, which is above
// f = 0.3207; for two attempts above 0.3583, for four above 0.3123.
func TestAWSBudgetDrainThreshold(t *testing.T) {
	for attempts, f := range map[int]float64{2: 0.358258, 3: 0.320724, 4: 0.312330} {
		power, sum := f, 0.0
		for k := 2; k <= attempts; k++ {
			power *= f
			sum += 5 * power
		}
		require.InDelta(t, 1-f, sum, 1e-5, "the closed form, %d attempts", attempts)

		for _, step := range []float64{-0.05, 0.05} { // beside it
			// What a call takes on the average, against the same from the words.
			p := f + step
			drift, power := -(1 - p), p
			for k := 2; k <= attempts; k++ {
				power *= p
				drift += 5 * power
			}
			budget := standardQuota
			budget.Capacity = 1e9
			x := strategytest.NewOneClient(t, budget, Retry{Backoff: backoffs.Fixed{}, MaxAttempts: attempts})
			missing := &x.Caller.Driver().Memory[strategies.PerClient][0]
			*missing = 5e8 // far from both ends
			const calls = 60_000
			luck := x.Caller.Driver().Rand.For(77)
			n := uint64(0)
			for range calls {
				d := x.Caller.Next(strategies.Event{Kind: strategies.Begin})
				for d.Kind == strategies.Send {
					o := strategytest.Refusal(wire.NoHint)
					if n++; luck.Float(n) >= p {
						o.Class = wire.OK
					}
					if d = x.Caller.Next(strategies.Event{Kind: strategies.Reply, Attempt: x.Caller.Attempts, Outcome: o}); d.Kind == strategies.Wait {
						d = x.Caller.Next(strategies.Event{Kind: strategies.Wake})
					}
				}
			}
			require.InDelta(t, drift, float64(*missing-5e8)/calls, 4.5*6/math.Sqrt(calls), "%d attempts at %v", attempts, p)
			require.Equal(t, step > 0, *missing > 5e8)
		}
	}
}

// Each retry costs 5 of the 10; a success after retries gives back what the last
// one cost, one at the first try 1.
func TestAWSBudgetScript(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{AWSBudget{Capacity: 10, Cost: 5, Scope: strategies.PerClient}, Retry{Backoff: backoffs.Fixed{Every: time.Second}}}, `
		a.1: begin -> send
		a.1: 503 -> wait 1s
		a.1: wake -> send
		a.1: 200 -> stop succeeded     # full again
		a.2: begin -> send
		a.2: 503 -> wait 1s
		a.2: wake -> send
		a.2: 503 -> wait 1s
		a.2: wake -> send
		a.2: 503 -> stop budget_spent  # empty
		a.3: begin -> send
		a.3: 200 -> stop succeeded     # 1
		a.4: begin -> send
		a.4: 503 -> stop budget_spent  # which is no 5
		b.1: begin -> send
		b.1: 503 -> wait 1s            # another client has its own
	`)
}
