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

func TestSingleFlight(t *testing.T) {
	seven := strategytest.Asking{Demand: wire.Demand{Prompt: 7}}
	t.Run("one asks for all", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{seven, SingleFlight{Scope: strategies.PerFleet}}, `
			a: begin -> send
			b: begin -> follow
			c: begin -> follow
			a: 200 -> stop succeeded + land 2
			b: joined -> stop succeeded
			c: joined -> stop succeeded
			d: begin -> send`)
	})
	t.Run("a failure is shared, a withdrawal is not", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Fixed{Every: time.Second}}, seven, SingleFlight{Scope: strategies.PerFleet}}, `
			a: begin -> send
			b: begin -> follow
			a: 503 -> wait 1s + land 1
			b: joined -> wait 1s
			a: wake -> send
			b: wake -> follow
			a: 401 -> stop failed auth + land 1
			b: joined -> stop failed auth`)
	})
	t.Run("a question like no other", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{SingleFlight{Scope: strategies.PerFleet}}, "a: begin -> send\nb: begin -> send")
	})
}

// Equal questions have equal numbers, others have others, and none has 0.
func TestFlightNumbers(t *testing.T) {
	number := func(d wire.Demand, model uint8) uint32 {
		return flightNumber(&strategies.Call{Demand: d, Target: wire.Target{Model: model}})
	}
	require.Zero(t, number(wire.Demand{MaxTokens: 5}, 1))
	seen := map[uint32]bool{}
	for prompt := range uint32(30) {
		for tokens := range uint32(30) {
			for model := range uint8(5) {
				d := wire.Demand{Prompt: prompt + 1, MaxTokens: tokens, InputTokens: 3, Priority: 1}
				n := number(d, model)
				require.NotZero(t, n)
				require.False(t, seen[n])
				seen[n] = true
				d.Priority = 2
				require.Equal(t, n, number(d, model), "urgency is no part of a question")
			}
		}
	}
}
