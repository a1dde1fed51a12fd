package layers

import (
	"testing"
	"time"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

func TestRecursiveSemaphore(t *testing.T) {
	mistake := RecursiveSemaphore{Retry: Retry{Backoff: backoffs.Fixed{Every: time.Second}}, Permits: 2, Scope: strategies.PerFleet}
	t.Run("two callers that fail together hang", func(t *testing.T) { // case A15b
		strategytest.Play(t, []strategies.Layer{mistake}, `
			a: begin -> send
			b: begin -> send
			a: 503 -> wait 1s
			b: 503 -> wait 1s
			a: wake -> queued                       # for a third permit, holding one of two
			b: wake -> queued
			@1h a: admitted -> refused
			b: admitted -> refused
			c: begin -> queued
			c: admitted -> refused`)
	})
	t.Run("a lone caller hangs when it fails as often as there are permits", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{mistake}, `
			a: begin -> send
			a: 503 -> wait 1s
			a: wake -> send
			a: 503 -> wait 1s
			a: wake -> queued
			@1h a: admitted -> refused
			b: begin -> queued
			a: cancelled -> stop withdrawn          # only giving up frees what it holds
			b: admitted -> send`)
	})
	t.Run("a success gives all permits back", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{mistake}, `
			a: begin -> send
			a: 503 -> wait 1s
			a: wake -> send
			b: begin -> queued
			a: 200 -> stop succeeded
			b: admitted -> send
			c: begin -> send
			d: begin -> queued`)
	})
	t.Run("so do a failure for good and the end of all tries", func(t *testing.T) {
		bounded := mistake
		bounded.Retry.MaxAttempts = 2
		strategytest.Play(t, []strategies.Layer{bounded}, `
			a: begin -> send
			a: 503 -> wait 1s
			a: wake -> send
			a: 503 -> stop tries_exhausted
			a: begin -> send
			b: begin -> send
			a: 401 -> stop failed
			b: 401 -> stop failed
			c: begin -> send
			d: begin -> send
			e: begin -> queued`)
	})
}
