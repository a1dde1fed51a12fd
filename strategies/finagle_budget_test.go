package strategies

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// In a total outage, D calls per second make 1.2 + 10/D attempts each, within
// 3 % once a TTL has passed.
func TestFinagleBudgetInAnOutage(t *testing.T) {
	for perSecond, want := range map[int]float64{10: 2.2, 50: 1.4, 100: 1.3, 1000: 1.21} {
		l := NewLab(t, FinagleBudget{Percent: 20, MinPerSecond: 10, Scope: PerFleet}, Retry{Backoff: Fixed{Every: 10 * time.Millisecond}})
		l.Serve = func(*Caller) (time.Duration, wire.Outcome) { return time.Millisecond, Refused(wire.Overloaded) }
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
	retry := Retry{Backoff: Fixed{Every: time.Second}, MaxAttempts: 2}
	// A fifth of the calls: five of them buy one retry, and for TTL only.
	budget := FinagleBudget{Percent: 20, TTL: 10 * time.Second, Scope: PerClient}
	x := NewOneClient(t, budget, retry)
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
	x = NewOneClient(t, Retry{Backoff: Fixed{}}, FinagleBudget{Percent: 50, Scope: PerClient})
	for _, want := range []int{1, 2, 1, 2} {
		require.Equal(t, want, x.Calls(wire.Overloaded))
	}

	// The minimum alone: 2 per second are 20 in any 10 s.
	x = NewOneClient(t, FinagleBudget{MinPerSecond: 2, Scope: PerClient}, Retry{Backoff: Fixed{}})
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
	Play(t, []Layer{FinagleBudget{Percent: 50, TTL: 10 * time.Second, Scope: PerFleet}, Retry{Backoff: Fixed{Every: time.Second}}}, `
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
