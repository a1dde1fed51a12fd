package strategies

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An attempt gets the shorter of the timeouts around it, and each attempt anew.
func TestAttemptTimeout(t *testing.T) {
	for want, layers := range map[time.Duration][]Layer{
		0:                nil,
		5 * time.Second:  {AttemptTimeout{After: 5 * time.Second}},
		3 * time.Second:  {AttemptTimeout{After: 5 * time.Second}, AttemptTimeout{After: 3 * time.Second}},
		2 * time.Second:  {AttemptTimeout{After: 2 * time.Second}, AttemptTimeout{After: 3 * time.Second}},
		10 * time.Second: {Retry{Backoff: Fixed{Every: time.Second}}, AttemptTimeout{After: 10 * time.Second}},
		11 * time.Second: {AttemptTimeout{After: 11 * time.Second}, Retry{Backoff: Fixed{Every: time.Second}}},
	} {
		c := NewWorld(t, map[string][]Layer{"": layers}, 1).Call("a")
		require.Equal(t, Decision{Kind: Send, After: want}, c.Next(Event{Kind: Begin}))
		if want < 10*time.Second {
			continue
		}
		o := Refusal(-1)
		require.Equal(t, Decision{Kind: Wait, After: time.Second}, c.Next(Event{Kind: Expired, Attempt: 1, Outcome: o}), "a wait is no attempt")
		require.Equal(t, Decision{Kind: Send, After: want}, c.Next(Event{Kind: Wake}))
	}
	_, err := Compile(Definition{Name: "bad", Layers: []Layer{AttemptTimeout{}}}, nil)
	require.EqualError(t, err, `strategy "bad": attempt timeout: it must be positive, not 0s`)
}
