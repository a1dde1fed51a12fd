package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestWorkerQueue(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{WorkerQueue{Rate: 1, Per: time.Second, Workers: 2, MaxAttempts: 2, Scope: strategies.PerFleet}}, `
		a: begin -> send
		b: begin -> queued until 1s               # for the pace of the workers
		c: begin -> queued                        # for a worker
		@1s b: admitted -> send
		a: 503 after=2s -> wait 2s                # the worker is free at once
		c: admitted -> queued until 2s
		d: begin -> queued
		@2s c: admitted -> send
		b: 200 -> stop succeeded
		d: admitted -> queued until 3s
		@3s a: wake -> queued                     # failed work stands at the end of the queue
		d: admitted -> send
		c: 200 -> stop succeeded
		a: admitted -> queued until 4s
		@4s a: admitted -> send
		a: 503 -> stop tries_exhausted
		d: 401 -> stop failed auth`)
}

// Case B23: a burst of 1,000 in a second reaches the provider as 10 a second,
// and is done after 100 s; a tenth of it fails once and comes again at the end.
func TestWorkerQueueDrainsABurst(t *testing.T) {
	for failing, want := range map[int]int{0: 1000, 10: 1100} {
		l := strategytest.NewLab(t, WorkerQueue{Rate: 10, Per: time.Second, Scope: strategies.PerFleet})
		attempts, done := 0, 0
		l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
			if attempts++; failing > 0 && c.Attempts == 1 && attempts%failing == 0 {
				return 0, strategytest.Refused(wire.Overloaded)
			}
			return 0, strategytest.Answered
		}
		l.Settled = func(*strategytest.Caller, strategies.Decision) { done++ }
		for i := range 1000 {
			l.At(time.Duration(i)*time.Millisecond, func() { l.Begin("a", i) })
		}
		l.Run(time.Hour)
		require.Equal(t, 1000, done)
		require.Equal(t, want, len(l.Sent))
		for _, n := range strategytest.PerBin(l.Sent, time.Second) {
			require.Equal(t, 10, n, "the provider sees an even 10 per second")
		}
		require.Equal(t, time.Duration(want-1)*100*time.Millisecond, l.Sent[want-1], "makespan")
	}
}
