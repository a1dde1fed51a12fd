package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

// Case 11 (c). The numbers are those of gRFC A6 with ten tokens and 0.1 each.
func TestGRPCBudget(t *testing.T) {
	budget := GRPCBudget{MaxTokens: 10, Ratio: 100, Scope: strategies.PerClient}
	retry := func(most int) Retry { return Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: most} }

	for _, outside := range []bool{true, false} {
		stack := func(most int) []strategies.Layer {
			if outside {
				return []strategies.Layer{budget, retry(most)}
			}
			return []strategies.Layer{retry(most), budget}
		}
		// From a full bucket, four retries and no more: the fifth failure leaves
		// half. Calls of four attempts make three, then the next makes none.
		x := strategytest.NewOneClient(t, stack(0)...)
		require.Equal(t, 5, x.Calls(wire.Overloaded))
		require.Equal(t, 1, x.Calls(wire.Overloaded))
		x = strategytest.NewOneClient(t, stack(4)...)
		require.Equal(t, 4, x.Calls(wire.Overloaded))
		for range 20 {
			require.Equal(t, 1, x.Calls(wire.Overloaded))
		}
		// From nothing, 51 successes are needed: 50 make half, exactly, and
		// the failure that asks costs a token first.
		for range 51 + 10 - 1 {
			require.Equal(t, 1, x.Calls(wire.OK))
		}
		require.Equal(t, 1, x.Calls(wire.Overloaded), "51 + 9: the token is taken, 50 are left")
		for range 10 + 1 {
			x.Calls(wire.OK)
		}
		require.Equal(t, 2, x.Calls(wire.Overloaded), "51 are left after the first failure")
	}

	// A million successes are worth no more than a full bucket.
	x := strategytest.NewOneClient(t, budget, retry(0))
	word := &x.Caller.Driver().Memory[strategies.PerClient][0]
	for range 1_000_000 {
		x.Caller.Next(strategies.Event{Kind: strategies.Begin})
		x.Caller.Next(strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: &strategytest.Answered})
	}
	require.Zero(t, *word, "nothing is missing")
	require.Equal(t, 5, x.Calls(wire.Overloaded))
	for range 20 {
		x.Calls(wire.Overloaded)
	}
	require.EqualValues(t, 10*oneToken, *word, "nor is it ever less than empty")
	for range 50 {
		x.Calls(wire.OK)
	}
	require.EqualValues(t, 5*oneToken, *word)
	x.Calls(wire.OK)
	require.Less(t, 2**word, int64(10*oneToken), "51 successes enable retries again")
}

func TestGRPCBudgetCounts(t *testing.T) {
	budget := GRPCBudget{MaxTokens: 2, Ratio: 1000, Scope: strategies.PerClient}
	strategytest.Play(t, []strategies.Layer{budget, Retry{Backoff: backoffs.Fixed{Every: time.Second}}}, `
		begin -> send
		400 -> stop failed                        # says nothing about the provider
		begin -> send
		503 -> stop budget_spent                  # one of two tokens is left: half
		begin -> send
		200 -> stop succeeded
		begin -> send
		400 says=stop -> stop failed              # the provider does not want more
		begin -> send
		200 -> stop succeeded
		begin -> send
		503 -> stop budget_spent`)
}

// Above a failure rate of ratio/(1+ratio) = 9.1 % the bucket runs dry; below it
// hardly any failure goes without its retry.
func TestGRPCBudgetKnee(t *testing.T) {
	for p, want := range map[float64][2]float64{0.03: {0.95, 1}, 0.15: {0, 0.35}} {
		budget := GRPCBudget{MaxTokens: 10, Ratio: 100, Scope: strategies.PerClient}
		l := strategytest.NewLab(t, budget, Retry{Backoff: backoffs.Fixed{Every: time.Millisecond}, MaxAttempts: 4})
		failed, retried := 0, 0
		l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
			if c.Attempts > 1 {
				retried++
			}
			if c.Driver().Rand.For(c.ID).Float(uint64(c.Attempts)<<40) < p {
				failed++
				return time.Millisecond, strategytest.Refused(wire.Overloaded)
			}
			return time.Millisecond, strategytest.Answered
		}
		for i := range 5000 {
			l.At(time.Duration(i)*10*time.Millisecond, func() { l.Begin("a", i) })
		}
		l.Run(time.Hour)
		share := float64(retried) / float64(failed)
		require.GreaterOrEqual(t, share, want[0], "p = %v", p)
		require.LessOrEqual(t, share, want[1], "p = %v", p)
	}
}
