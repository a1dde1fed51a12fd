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

// In a total outage, D calls per second make 1.2 + 10/D attempts each, within
// 3 % once a TTL has passed.
func TestFinagleBudgetInAnOutage(t *testing.T) {
	for perSecond, want := range map[int]float64{10: 2.2, 50: 1.4, 100: 1.3, 1000: 1.21} {
		l := strategytest.NewLab(t, FinagleBudget{Percent: 20, MinPerSecond: 10, Scope: strategies.PerFleet}, Retry{Backoff: backoffs.Fixed{Every: 10 * time.Millisecond}})
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			return time.Millisecond, strategytest.Refused(wire.Overloaded)
		}
		const length = 60
		for i := range length * perSecond {
			l.At(time.Duration(i)*time.Second/time.Duration(perSecond), func() { l.Begin("a", i) })
		}
		l.Run((length + 1) * time.Second)
		attempts := 0
		for _, at := range l.Sent {
			if at >= 20*time.Second && at < length*time.Second {
				attempts++
			}
		}
		require.InEpsilon(t, want, float64(attempts)/float64((length-20)*perSecond), 0.03, "%d calls per second", perSecond)
	}
}

func TestFinagleBudget(t *testing.T) {
	retry := Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 2}
	// A fifth of the calls: five of them buy one retry, and for TTL only.
	budget := FinagleBudget{Percent: 20, TTL: 10 * time.Second, Scope: strategies.PerClient}
	x := strategytest.NewOneClient(t, budget, retry)
	for range 3 {
		require.Equal(t, 1, x.Calls(wire.OK))
	}
	require.Equal(t, 1, x.Calls(wire.Overloaded))
	require.Equal(t, 2, x.Calls(wire.Overloaded), "the fifth call")
	require.Equal(t, 1, x.Calls(wire.Overloaded))
	for range 10 {
		x.Calls(wire.OK)
	}
	x.Now = 30 * time.Second
	require.Equal(t, 1, x.Calls(wire.Overloaded), "what is older than the TTL is forgotten")

	// Inside the loop only first attempts are deposits, too.
	x = strategytest.NewOneClient(t, Retry{Backoff: backoffs.Fixed{}}, FinagleBudget{Percent: 50, Scope: strategies.PerClient})
	for _, want := range []int{1, 2, 1, 2} {
		require.Equal(t, want, x.Calls(wire.Overloaded))
	}

	// The minimum alone: 2 per second are 20 in any 10 s.
	x = strategytest.NewOneClient(t, FinagleBudget{MinPerSecond: 2, Scope: strategies.PerClient}, Retry{Backoff: backoffs.Fixed{}})
	require.Equal(t, 21, x.Calls(wire.Overloaded))
	x.Now = 8 * time.Second
	require.Equal(t, 1, x.Calls(wire.Overloaded))
	x.Now = 10 * time.Second
	require.Equal(t, 21, x.Calls(wire.Overloaded), "they come back together")
	x.Now = time.Hour
	require.Equal(t, 21, x.Calls(wire.Overloaded), "and a quiet hour saves nothing up")
}

// Two calls at 50 % earn one retry; after the TTL they are forgotten, and what was
// spent too.
func TestFinagleBudgetScript(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{FinagleBudget{Percent: 50, TTL: 10 * time.Second, Scope: strategies.PerFleet}, Retry{Backoff: backoffs.Fixed{Every: time.Second}}}, `
		a.1: begin -> send
		a.1: 503 -> stop budget_spent
		b.1: begin -> send
		b.1: 503 -> wait 1s
		b.1: wake -> send
		b.1: 503 -> stop budget_spent
		@20s a.2: begin -> send
		a.2: 503 -> stop budget_spent
		a.3: begin -> send
		a.3: 503 -> wait 1s
	`)
}
