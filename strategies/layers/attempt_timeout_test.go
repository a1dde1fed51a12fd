package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

// An attempt gets the shorter of the timeouts around it, and each attempt anew.
func TestAttemptTimeout(t *testing.T) {
	for want, layers := range map[time.Duration][]strategies.Layer{
		0:                nil,
		5 * time.Second:  {AttemptTimeout{After: 5 * time.Second}},
		3 * time.Second:  {AttemptTimeout{After: 5 * time.Second}, AttemptTimeout{After: 3 * time.Second}},
		2 * time.Second:  {AttemptTimeout{After: 2 * time.Second}, AttemptTimeout{After: 3 * time.Second}},
		10 * time.Second: {Retry{Backoff: backoffs.Fixed{Every: time.Second}}, AttemptTimeout{After: 10 * time.Second}},
		11 * time.Second: {AttemptTimeout{After: 11 * time.Second}, Retry{Backoff: backoffs.Fixed{Every: time.Second}}},
	} {
		c := strategytest.NewWorld(t, map[string][]strategies.Layer{"": layers}, 1).Call("a")
		require.Equal(t, strategies.Decision{Kind: strategies.Send, After: want}, c.Next(strategies.Event{Kind: strategies.Begin}))
		if want < 10*time.Second {
			continue
		}
		o := strategytest.Refusal(-1)
		require.Equal(t, strategies.Decision{Kind: strategies.Wait, After: time.Second}, c.Next(strategies.Event{Kind: strategies.Expired, Attempt: 1, Outcome: o}), "a wait is no attempt")
		require.Equal(t, strategies.Decision{Kind: strategies.Send, After: want}, c.Next(strategies.Event{Kind: strategies.Wake}))
	}
	_, err := strategies.Compile(strategies.Definition{Name: "bad", Layers: []strategies.Layer{AttemptTimeout{}}}, nil)
	require.EqualError(t, err, `strategy "bad": attempt timeout: after must be positive, not 0s`)
}
