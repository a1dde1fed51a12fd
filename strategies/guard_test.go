package strategies_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

func TestGuard(t *testing.T) {
	var heard []string
	open := func(time.Duration, *strategies.Call) strategies.Decision { return strategies.Decision{} }
	listen := strategytest.Gatekeeper{Decide: open, Heard: &heard}

	t.Run("is asked again after a wait, and hears nothing of its own refusals", func(t *testing.T) {
		heard = nil
		patient := strategytest.Gatekeeper{Heard: &heard, Decide: func(now time.Duration, _ *strategies.Call) strategies.Decision {
			if now < 3*time.Second {
				return strategies.Decision{Kind: strategies.Wait, After: 2 * time.Second}
			}
			return strategies.Decision{}
		}}
		strategytest.Play(t, []strategies.Layer{patient}, `
			begin -> wait 2s
			wake -> wait 2s
			wake -> send
			200 -> stop succeeded
			begin -> send
			cancelled -> stop withdrawn
			@10s begin -> send
			503 -> stop failed`)
		want := []string{fmt.Sprint(strategies.Succeeded, " ", strategies.Reply), fmt.Sprint(strategies.CallerCancelled, " ", strategies.Cancelled), fmt.Sprint(strategies.Failed, " ", strategies.Reply)}
		require.Equal(t, append(want, want...), heard)
	})
	t.Run("a call that is withdrawn while it waits has not begun inside", func(t *testing.T) {
		heard = nil
		wait := strategytest.Gatekeeper{Heard: new([]string), Decide: func(time.Duration, *strategies.Call) strategies.Decision {
			return strategies.Decision{Kind: strategies.Wait, After: time.Second}
		}}
		strategytest.Play(t, []strategies.Layer{listen, wait, listen}, `
			begin -> wait 1s
			wake -> wait 1s
			cancelled -> stop withdrawn`)
		require.Len(t, heard, 2, "the outer one, in each of two plays")
		require.Empty(t, *wait.Heard)
	})
	t.Run("hears nothing of a call that is withdrawn between two attempts", func(t *testing.T) {
		heard = nil
		strategytest.Play(t, []strategies.Layer{layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}}, listen}, `
			begin -> send
			503 -> wait 1s
			cancelled -> stop withdrawn`)
		require.Len(t, heard, 2, "the failure, in each of two plays")
	})
	t.Run("an answer from inside ends what it let in", func(t *testing.T) {
		heard = nil
		cache := strategytest.Gatekeeper{Heard: new([]string), Decide: func(_ time.Duration, c *strategies.Call) strategies.Decision {
			return strategies.Decision{Kind: strategies.Answer, End: strategies.End{Reason: strategies.ServedFromMemory, Degraded: true}}
		}}
		strategytest.Play(t, []strategies.Layer{layers.Retry{Backoff: backoffs.Fixed{}}, listen, layers.Concurrency{Permits: 1, Scope: strategies.PerFleet}, cache}, `
			a: begin -> answer
			b: begin -> answer                        # the permit came back
			b: begin -> answer`)
		require.Len(t, heard, 6)
	})
	t.Run("permits come back whatever the stack", func(t *testing.T) {
		// Many layers return units in one Next.
		var stack []strategies.Layer
		for range 16 {
			stack = append(stack, layers.Concurrency{Permits: 1, Scope: strategies.PerFleet})
		}
		strategytest.Play(t, stack, `
			a: begin -> send
			a: 503 -> stop failed
			b: begin -> send
			b: cancelled -> stop withdrawn
			c: begin -> send`)
	})
	t.Run("a call passes several lines one after the other", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{
			layers.Concurrency{Permits: 1, Scope: strategies.PerFleet},
			layers.TokenBucket{Rate: 1, Per: time.Second, Burst: 1, Scope: strategies.PerFleet},
		}, `
			a: begin -> send
			b: begin -> queued                        # for a's permit
			a: 200 -> stop succeeded
			b: admitted -> queued until 1s            # for a token
			c: begin -> queued
			@1s b: admitted -> send
			c: admitted -> refused
			b: 200 -> stop succeeded
			c: admitted -> queued until 2s
			c: cancelled -> stop withdrawn            # and gives its permit back
			@2s d: begin -> send`)
	})
}
