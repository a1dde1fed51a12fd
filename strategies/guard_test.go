package strategies

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGuard(t *testing.T) {
	var heard []string
	open := func(time.Duration, *Call) Decision { return Decision{} }
	listen := Gatekeeper{Decide: open, Heard: &heard}

	t.Run("is asked again after a wait, and hears nothing of its own refusals", func(t *testing.T) {
		heard = nil
		patient := Gatekeeper{Heard: &heard, Decide: func(now time.Duration, _ *Call) Decision {
			if now < 3*time.Second {
				return Decision{Kind: Wait, After: 2 * time.Second}
			}
			return Decision{}
		}}
		Play(t, []Layer{patient}, `
			begin -> wait 2s
			wake -> wait 2s
			wake -> send
			200 -> stop succeeded
			begin -> send
			cancelled -> stop withdrawn
			@10s begin -> send
			503 -> stop failed`)
		want := []string{fmt.Sprint(Succeeded, " ", Reply), fmt.Sprint(Withdrawn, " ", Cancelled), fmt.Sprint(Failed, " ", Reply)}
		require.Equal(t, append(want, want...), heard)
	})
	t.Run("a call that is withdrawn while it waits has not begun inside", func(t *testing.T) {
		heard = nil
		wait := Gatekeeper{Heard: new([]string), Decide: func(time.Duration, *Call) Decision { return Decision{Kind: Wait, After: time.Second} }}
		Play(t, []Layer{listen, wait, listen}, `
			begin -> wait 1s
			wake -> wait 1s
			cancelled -> stop withdrawn`)
		require.Len(t, heard, 2, "the outer one, in each of two plays")
		require.Empty(t, *wait.Heard)
	})
	t.Run("hears nothing of a call that is withdrawn between two attempts", func(t *testing.T) {
		heard = nil
		Play(t, []Layer{Retry{Backoff: Fixed{Every: time.Second}}, listen}, `
			begin -> send
			503 -> wait 1s
			cancelled -> stop withdrawn`)
		require.Len(t, heard, 2, "the failure, in each of two plays")
	})
	t.Run("an answer from inside ends what it let in", func(t *testing.T) {
		heard = nil
		cache := Gatekeeper{Heard: new([]string), Decide: func(_ time.Duration, c *Call) Decision {
			return Decision{Kind: Answer, End: End{Reason: ServedFromMemory, Degraded: true}}
		}}
		Play(t, []Layer{Retry{Backoff: Fixed{}}, listen, Concurrency{Permits: 1, Scope: PerFleet}, cache}, `
			a: begin -> answer
			b: begin -> answer                        # the permit came back
			b: begin -> answer`)
		require.Len(t, heard, 6)
	})
	t.Run("permits come back whatever the stack", func(t *testing.T) {
		// More layers give back at once than any fixed small number.
		var layers []Layer
		for range 16 {
			layers = append(layers, Concurrency{Permits: 1, Scope: PerFleet})
		}
		Play(t, layers, `
			a: begin -> send
			a: 503 -> stop failed
			b: begin -> send
			b: cancelled -> stop withdrawn
			c: begin -> send`)
	})
	t.Run("a call passes several lines one after the other", func(t *testing.T) {
		Play(t, []Layer{
			Concurrency{Permits: 1, Scope: PerFleet},
			TokenBucket{Rate: 1, Per: time.Second, Burst: 1, Scope: PerFleet},
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
