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

func TestDeadline(t *testing.T) {
	retry := Retry{Backoff: backoffs.Fixed{Every: 4 * time.Second}}
	limit := Deadline{Within: 10 * time.Second}
	t.Run("a wait that would outlast it is not begun", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{limit, retry}, `
			@1s begin -> send
			@2s 503 -> wait 4s
			wake -> send
			@6.9s 503 -> wait 4s
			wake -> send
			@10.95s 429 -> stop deadline_passed rate
			@20s begin -> send                        # another call
			@23s 503 after=7s -> stop deadline_passed overloaded`)
		strategytest.Play(t, []strategies.Layer{Deadline{Within: 10 * time.Second, Least: 3 * time.Second}, retry}, `
			begin -> send
			@2s 503 -> wait 4s
			wake -> send
			@6.1s 503 -> stop deadline_passed`)
	})
	t.Run("inside a loop it bounds the call all the same", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{retry, limit}, `
			begin -> send
			@5s 503 -> wait 4s
			wake -> send
			@9.5s 503 -> wait 4s
			wake -> stop deadline_passed timeout`)
	})
	t.Run("a place in line is given up", func(t *testing.T) {
		granted(t, []strategies.Layer{Deadline{Within: 10 * time.Second, Least: 3 * time.Second}, Concurrency{Permits: 1, Scope: strategies.PerFleet}}, `
			a: begin -> send
			@1s b: begin -> queued + wake 7s
			@2s c: begin -> queued + wake 7s
			b: wake -> stop deadline_passed timeout + leave
			a: 200 -> stop succeeded
			@8.5s c: admitted -> send
			c: wake -> idle                           # of a timer that nobody needs
			@13s c: 200 -> stop succeeded
			d: begin -> send`)
	})
	t.Run("what is held is given back", func(t *testing.T) {
		granted(t, []strategies.Layer{limit, Concurrency{Permits: 1, Scope: strategies.PerFleet}, retry}, `
			a: begin -> send
			b: begin -> queued + wake 9.999999999s
			@8s a: 503 -> stop deadline_passed
			b: admitted -> send`)
	})
	t.Run("cancelled in line", func(t *testing.T) {
		granted(t, []strategies.Layer{Deadline{Within: 10 * time.Second, Least: time.Second}, Concurrency{Permits: 1, Scope: strategies.PerFleet}}, `
			a: begin -> send
			b: begin -> queued + wake 9s
			@1s b: cancelled -> stop withdrawn
			c: begin -> queued + wake 9s
			a: 200 -> stop succeeded
			c: admitted -> send`)
	})
	t.Run("a call that follows another is not held back", func(t *testing.T) {
		seven := strategytest.Asking{Demand: wire.Demand{Prompt: 7}}
		strategytest.Play(t, []strategies.Layer{seven, Deadline{Within: 10 * time.Second, Least: time.Second}, Retry{Backoff: backoffs.Fixed{Every: 2 * time.Second}}, SingleFlight{Scope: strategies.PerFleet}}, `
			a: begin -> send + wake 9.000000001s
			@1s b: begin -> follow + wake 9.000000001s
			@2s c: begin -> follow + wake 9.000000001s
			@3s a: 503 -> wait 2s + land 2
			b: joined -> wait 2s
			c: joined -> wait 2s
			b: wake -> send + wake 5.000000001s       # it leads now
			c: wake -> follow + wake 6.000000001s
			a: wake -> follow + wake 4.000000001s
			a: wake -> stop deadline_passed
			@10.5s b: 200 -> stop succeeded + land 2
			c: joined -> stop succeeded`)
	})
	t.Run("an earlier timer inside stands", func(t *testing.T) {
		limit := Deadline{Within: 10 * time.Second, Least: time.Second}
		granted(t, []strategies.Layer{limit, Bulkhead{Permits: 1, Line: 9, Patience: 2 * time.Second, Scope: strategies.PerFleet}}, `
			a: begin -> send
			b: begin -> queued + wake 2s
			b: wake -> stop limiter_refused + leave
			@3s c: begin -> queued + wake 2s
			@4s a: 200 -> stop succeeded
			c: admitted -> send`)
		granted(t, []strategies.Layer{limit, Bulkhead{Permits: 1, Line: 9, Patience: 20 * time.Second, Scope: strategies.PerFleet}}, `
			a: begin -> send
			b: begin -> queued + wake 9s
			b: wake -> stop deadline_passed + leave
			c: begin -> queued + wake 9s`)
	})
}

// granted plays a script with a driver that grants units directly, so that who
// finds them free sets no timer for a line.
func granted(t *testing.T, layers []strategies.Layer, script string) {
	t.Helper()
	w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": layers}, 1)
	w.Direct = true
	w.Script(script)
}

// A deadline is propagated: what an attempt gets is never more than what is
// left, and never nothing; and no call lasts longer, whatever is inside.
func TestDeadlineHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := Deadline{Within: 1000, Least: time.Duration(rapid.IntRange(0, 200).Draw(rt, "least"))}
		layers := []strategies.Layer{limit,
			Retry{Backoff: backoffs.Uniform{High: 200}},
			Breaker{Failures: 2, OpenFor: 90, MinWait: 10, Jitter: 30, Scope: strategies.PerFleet},
			AttemptTimeout{After: time.Duration(rapid.IntRange(1, 2000).Draw(rt, "timeout"))},
		}
		w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": layers}, rapid.Uint64().Draw(rt, "seed"))
		c := w.Call("a")
		d := c.Next(strategies.Event{Kind: strategies.Begin})
		for d.Kind != strategies.Stop {
			left := limit.Within - w.Now
			switch d.Kind {
			case strategies.Send:
				require.Positive(rt, d.After)
				require.LessOrEqual(rt, d.After, left)
				require.GreaterOrEqual(rt, left, limit.Least)
				took := time.Duration(rapid.IntRange(0, 300).Draw(rt, "took"))
				e := strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: strategytest.Refusal(wire.NoHint)}
				if took > d.After {
					e.Kind, took = strategies.Expired, d.After
					e.Outcome.Class = wire.Timeout
				}
				w.Now += took
				d = c.Next(e)
			case strategies.Wait:
				require.LessOrEqual(rt, d.After, left-limit.Least)
				w.Now += d.After
				d = c.Next(strategies.Event{Kind: strategies.Wake})
			default:
				rt.Fatalf("%+v", d)
			}
		}
		require.Equal(rt, strategies.DeadlinePassed, d.End.Reason)
		require.LessOrEqual(rt, w.Now, limit.Within)
	})
}

// A script that sends again at once is stopped too.
func TestDeadlineStopsASend(t *testing.T) {
	again := resender{}
	granted(t, []strategies.Layer{Deadline{Within: 10 * time.Second}, Concurrency{Permits: 1, Scope: strategies.PerFleet}, again}, `
		a: begin -> send
		@1s a: 503 -> send
		b: begin -> queued + wake 9.999999999s
		@10s a: expired -> stop deadline_passed timeout
		b: admitted -> send`)
}

// resender sends again when an attempt has failed, without a wait.
type resender struct{}

func (resender) Build(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return resending{inner}, nil
}

type resending struct{ inner strategies.Strategy }

func (r resending) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	d := r.inner.Next(now, c, e)
	if d.Kind == strategies.Stop && d.End.Reason == strategies.Failed && d.End.Class != wire.Cancelled {
		return r.inner.Next(now, c, strategies.Event{Kind: strategies.Begin})
	}
	return d
}

func TestDeadlineRejectsInvalidSettings(t *testing.T) {
	for _, d := range []Deadline{{}, {Within: -1}, {Within: 1, Least: -1}, {Within: 1, Least: 2}} {
		_, err := strategies.Compile(strategies.Definition{Name: "bad", Layers: []strategies.Layer{d}}, nil)
		require.ErrorContains(t, err, "deadline: within must be positive")
	}
}
