package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

func TestConcurrency(t *testing.T) {
	retry := Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 2}
	two := Concurrency{Permits: 2, Scope: strategies.PerFleet}
	t.Run("first come, first served", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{two}, `
			a: begin -> send
			b: begin -> send
			c: begin -> queued
			d: begin -> queued
			c: admitted -> refused
			a: 200 -> stop succeeded
			d: admitted -> refused                  # c is first
			c: admitted -> send
			d: admitted -> refused
			b: 200 -> stop succeeded
			d: admitted -> send`)
	})
	t.Run("a permit comes back on every ending", func(t *testing.T) {
		for _, end := range []string{
			"200 -> stop succeeded", "503 -> stop failed", "401 -> stop failed", "lost -> stop failed",
			"expired -> stop failed", "cancelled -> stop withdrawn",
			// A driver that withdraws a call settles its attempts first.
			"settled -> stop failed\na: cancelled -> stop withdrawn",
		} {
			strategytest.Play(t, []strategies.Layer{Concurrency{Permits: 1, Scope: strategies.PerFleet}}, `
				a: begin -> send
				b: begin -> queued
				c: begin -> queued
				a: `+end+`
				b: admitted -> send
				c: admitted -> refused              # one permit came back, not two
				b: 200 -> stop succeeded
				c: admitted -> send`)
		}
	})
	t.Run("a waiter that gives up costs nothing and holds nothing", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Concurrency{Permits: 1, Scope: strategies.PerFleet}}, `
			a: begin -> send
			b: begin -> queued
			b: cancelled -> stop withdrawn
			c: begin -> queued
			a: 200 -> stop succeeded
			c: admitted -> send
			d: begin -> queued`)
	})
	t.Run("inside a loop it is given back before the wait", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{retry, Concurrency{Permits: 1, Scope: strategies.PerFleet}}, `
			a: begin -> send
			b: begin -> queued
			a: 503 -> wait 1s
			b: admitted -> send                     # while a waits
			b: 200 -> stop succeeded
			a: wake -> send`)
	})
	t.Run("outside a loop it is held across the wait", func(t *testing.T) {
		// The articles' mistake: a retry inside the semaphore. With as many
		// callers waiting as there are permits, nobody gets anything done.
		strategytest.Play(t, []strategies.Layer{Concurrency{Permits: 1, Scope: strategies.PerFleet}, retry}, `
			a: begin -> send
			b: begin -> queued
			a: 503 -> wait 1s
			b: admitted -> refused
			@999ms b: admitted -> refused
			a: wake -> send
			b: admitted -> refused
			a: 503 -> stop tries_exhausted
			b: admitted -> send
			b: 503 -> wait 1s
			c: begin -> queued
			b: cancelled -> stop withdrawn          # in the middle of a wait
			c: admitted -> send`)
	})
	t.Run("a permit returns if an inner layer refuses the attempt", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Concurrency{Permits: 1, Scope: strategies.PerFleet}, fast(1, strategies.PerFleet)}, `
			a: begin -> send
			a: 503 -> stop failed
			b: begin -> stop breaker_open
			c: begin -> stop breaker_open
			@30s c: begin -> send`)
	})
	t.Run("scopes", func(t *testing.T) {
		for scope, script := range map[strategies.Scope]string{
			strategies.PerClient:   "x/a.2: begin -> queued\nx/b: begin -> send\ny/a: begin -> send",
			strategies.PerFleet:    "x/a.2: begin -> queued\nx/b: begin -> queued\ny/a: begin -> send",
			strategies.PerEveryone: "x/a.2: begin -> queued\nx/b: begin -> queued\ny/a: begin -> queued",
		} {
			stack := []strategies.Layer{Concurrency{Permits: 1, Scope: scope, Name: "s"}}
			strategytest.PlayFleets(t, map[string][]strategies.Layer{"x": stack, "y": stack}, "x/a.1: begin -> send\n"+script)
		}
	})
}

// However calls come, end and are withdrawn: no more than its size are under
// way, and no permit is lost. Two semaphores around a loop and inside it.
func TestConcurrencyConserves(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		outer := rapid.Int64Range(1, 4).Draw(rt, "outer")
		inner := rapid.Int64Range(1, 4).Draw(rt, "inner")
		w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {
			Concurrency{Permits: outer, Scope: strategies.PerFleet},
			Retry{Backoff: backoffs.Fixed{Every: 1}, MaxAttempts: 3},
			Concurrency{Permits: inner, Scope: strategies.PerFleet},
		}}, 1)
		w.Direct = rapid.Bool().Draw(rt, "direct")
		live := map[string]bool{}
		for range rapid.IntRange(60, 120).Draw(rt, "steps") {
			w.Now++
			i := rapid.IntRange(0, 7).Draw(rt, "call")
			name := "abcdefgh"[i : i+1]
			c := w.Call(name)
			flies := c.InFlight > 0
			var d strategies.Decision
			switch {
			case !live[name]:
				live[name] = true
				d = c.Next(strategies.Event{Kind: strategies.Begin})
			case rapid.IntRange(0, 5).Draw(rt, "withdraw") == 0:
				w.Withdraw(c)
				live[name] = false
				continue
			case flies:
				class := rapid.SampledFrom([]wire.Class{wire.OK, wire.Overloaded, wire.BadRequest}).Draw(rt, "class")
				d = c.Next(strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: &wire.Outcome{Class: class, RetryAfter: wire.NoHint}})
			case c.Waits:
				c.Waits = false
				d = c.Next(strategies.Event{Kind: strategies.Wake})
			}
			if d.Kind == strategies.Stop {
				live[name] = false
			}
			w.AdmitAll()
			// Layers reserve from the inside: the inner one has the first word.
			words := w.Fleets[""].Words
			flying, inside := int64(0), int64(0)
			for name, c := range w.Calls {
				flying += int64(c.InFlight)
				if live[name] && c.Line != &words[1] {
					inside++
				}
			}
			require.Equal(rt, []int64{flying, inside}, words, "permits in use")
			require.LessOrEqual(rt, flying, inner)
			require.LessOrEqual(rt, inside, outer)
		}
		for name, on := range live {
			if on {
				w.Withdraw(w.Call(name))
			}
		}
		require.Equal(rt, []int64{0, 0}, w.Fleets[""].Words, "all permits are back")
	})
}
