package strategies_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// Retries in several layers multiply: against a provider that always fails, a
// call sends the product of the attempts that each layer allows.
func TestNestedLoopsMultiply(t *testing.T) {
	for want, tries := range map[int][]int{
		1: nil, 4: {4, 1}, 9: {3, 3}, 12: {4, 3}, 15: {3, 1, 5}, 27: {3, 3, 3}, 45: {3, 3, 5}, 243: {3, 3, 3, 3, 3},
	} {
		t.Run(fmt.Sprint(tries), func(t *testing.T) {
			var stack []strategies.Layer
			for _, n := range tries {
				stack = append(stack, layers.Retry{Backoff: backoffs.Fixed{}, MaxAttempts: n})
			}
			w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": stack}, 1)
			for range 2 { // a second call starts with fresh state
				c := w.Call("a")
				d := c.Next(strategies.Event{Kind: strategies.Begin})
				for d.Kind == strategies.Send {
					if d = c.Next(strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: strategytest.Refusal(wire.NoHint)}); d.Kind == strategies.Wait {
						d = c.Next(strategies.Event{Kind: strategies.Wake})
					}
				}
				require.Equal(t, strategies.Stop, d.Kind)
				require.Equal(t, want, int(c.Attempts))
			}
		})
	}
}

func TestNestedLoops(t *testing.T) {
	// When an outer loop begins an inner one again, its backoff starts again.
	strategytest.Play(t, []strategies.Layer{
		layers.Retry{Backoff: backoffs.Fixed{Every: time.Minute}, MaxAttempts: 2},
		layers.Retry{Backoff: backoffs.Exponential{Base: time.Second}, MaxAttempts: 3},
	}, `
		begin -> send
		503 -> wait 1s
		wake -> send
		503 -> wait 2s
		wake -> send
		503 -> wait 1m
		wake -> send
		503 -> wait 1s
		wake -> send
		200 -> stop succeeded`)
}

// stubborn is a loop that retries after every Stop.
type stubborn struct{}

func (s stubborn) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return b.Loop(s, inner)
}

func (stubborn) Start(time.Duration, *strategies.Call) {}

func (stubborn) After(time.Duration, *strategies.Call, strategies.Event, strategies.Decision) strategies.Decision {
	return strategies.Decision{Kind: strategies.Wait, After: time.Second}
}

// A loop that always retries does not retry a cancelled call.
func TestLoopsEndWithTheirCall(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{stubborn{}}, `
		begin -> send
		200 -> wait 1s
		wake -> send
		settled -> stop failed cancelled
		begin -> send
		cancelled -> stop withdrawn cancelled
		begin -> send
		401 -> wait 1s
		cancelled -> stop withdrawn cancelled`)
}

// hasty is a layer that abandons an attempt when its head arrives too late, and
// reports a timeout.
type hasty struct{ inner strategies.Strategy }

func (hasty) Build(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return hasty{inner}, nil
}

func (h hasty) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	switch {
	case e.Kind == strategies.Head && now > c.Born+time.Second:
		return strategies.Decision{Kind: strategies.Abandon, Take: strategies.Take{N: e.Attempt}}
	case e.Kind == strategies.Settled:
		return strategies.StopWith(strategies.Failed, wire.Timeout)
	}
	return h.inner.Next(now, c, e)
}

// A loop outside may retry an attempt that a layer inside has abandoned.
func TestAbandonedAttemptsAreRetried(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 2}, layers.Concurrency{Permits: 1, Scope: strategies.PerFleet}, hasty{}}, `
		begin -> send
		head -> idle
		200 -> stop succeeded
		begin -> send
		@2s head -> abandon 1
		b: begin -> queued
		settled -> wait 1s
		b: admitted -> send`)
}
