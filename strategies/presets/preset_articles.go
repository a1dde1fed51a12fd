package presets

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// The templates of the two reference articles, with their mistakes.

// capacityOnly are the failures that the templates of the first article retry.
var capacityOnly = layers.Rules{Classes: strategies.ClassesOf(wire.Overloaded), Marks: layers.MarksIgnored}

// articleCapacity is call_with_retry: five attempts and four waits of 1, 2, 4 and 8 s,
// each + U(0, 0.5 s). These are 15 s and not the 31 s that the article states, and the
// jitter is too small to spread a herd. A Retry-After replaces the base of a wait,
// with the same jitter.
func articleCapacity(Knowledge) strategies.Definition {
	return strategies.Definition{Layers: []strategies.Layer{
		layers.Retry{
			Backoff: backoffs.Exponential{Base: time.Second, Jitter: time.Second / 2}, MaxAttempts: 5,
			On: capacityOnly, Hints: layers.Hints{Use: layers.HintForBase},
		},
	}}
}

// articleFallback is call_with_fallback: the flagship, the standard and the light
// model, one attempt each and without a wait, so that the load that overloads one
// model reaches the last one almost at once.
func articleFallback(Knowledge) strategies.Definition {
	return strategies.Definition{Layers: []strategies.Layer{layers.Ladder{Rungs: []layers.Rung{{Model: 0}, {Model: 1}, {Model: 2}}, On: capacityOnly}}}
}

// articleThreeTiers is what the article recommends: two attempts at the flagship, one
// at the standard and one at the light model, 90 to 150 s apart. They are the models
// 0, 1 and 2 of the provider.
func articleThreeTiers(Knowledge) strategies.Definition {
	return strategies.Definition{Layers: []strategies.Layer{layers.Ladder{
		Rungs:   []layers.Rung{{Model: 0, Tries: 2}, {Model: 1, Tries: 1}, {Model: 2, Tries: 1}},
		On:      capacityOnly,
		Backoff: backoffs.Uniform{Low: 90 * time.Second, High: 150 * time.Second},
	}}}
}

// code14003 are the only failures that the templates of the second article retry.
var code14003 = layers.Rules{Classes: strategies.ClassesOf(wire.Rate), Marks: layers.MarksIgnored}

// article14003 is request_with_retry: five attempts, with a wait of retry_after or
// else 2ⁿ s after each, also after the last one. Without retry_after the waits are
// 31 s, of which the last 16 s are useless.
func article14003(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: codeReader{}, Layers: []strategies.Layer{
		lastWait{5},
		layers.Retry{Backoff: exponential(time.Second, 0), On: code14003, Hints: layers.Hints{Use: layers.HintForBase}},
		layers.AttemptTimeout{After: 30 * time.Second},
	}}
}

// articleSemaphore is limited_request: a semaphore with two permits, and a retry by
// recursion that takes another permit while the first is held. A single call hangs at
// its second 14003 in a row, two concurrent calls at their first.
func articleSemaphore(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: codeReader{}, Layers: []strategies.Layer{
		layers.RecursiveSemaphore{
			Permits: 2, Scope: strategies.PerClient,
			Retry: layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, On: code14003, Hints: layers.Hints{Use: layers.HintForBase}},
		},
		layers.AttemptTimeout{After: 30 * time.Second},
	}}
}

// articleClient is RateLimitedClient: one permit, held during waits; an interval of
// 0.3 s + U(0, 20 ms) between calls, but not between the attempts of a call; four
// attempts, with a wait of retry_after or else 2ⁿ s + U(0, 0.5 s) after each, also
// after the last one.
func articleClient(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: codeReader{}, Layers: []strategies.Layer{
		layers.Concurrency{Permits: 1, Scope: strategies.PerClient},
		layers.MinInterval{Every: 300 * time.Millisecond, Jitter: 20 * time.Millisecond, Scope: strategies.PerClient},
		lastWait{4},
		layers.Retry{Backoff: backoffs.Exponential{Base: time.Second, Jitter: time.Second / 2}, On: code14003, Hints: layers.Hints{Use: layers.HintForBase}},
		layers.AttemptTimeout{After: 30 * time.Second},
	}}
}

// articleBucket is TokenBucket with the numbers of the article: 1.4 requests a second,
// which is 0.7 of 120 a minute, and a burst of 3, half of the concurrency. Each process
// has its own bucket, so k processes send 0.7·k of the limit. It does not retry. (Not
// modelled: waiting calls poll every 50 ms, and any of them may get the token.)
func articleBucket(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: codeReader{}, Layers: []strategies.Layer{
		layers.TokenBucket{Rate: 7, Per: 5 * time.Second, Burst: 3, Scope: strategies.PerClient},
		layers.AttemptTimeout{After: 30 * time.Second},
	}}
}

// lastWait stops an unbounded loop inside it after the given number of attempts, but
// only after the wait that follows the last attempt:
//
//	for attempt in range(5):
//	    ...
//	    time.sleep(wait)
//	raise
type lastWait struct{ attempts uint32 }

// Build implements strategies.Layer.
func (a lastWait) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	class, err := b.Reserve(strategies.PerCall, 1, "")
	return &lastWaitLayer{a, inner, class}, err
}

type lastWaitLayer struct {
	lastWait
	inner strategies.Strategy
	class strategies.Slot // the class of the last failure
}

// Next implements strategies.Strategy.
func (a *lastWaitLayer) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	class := c.Word(a.class, 0)
	switch {
	case e.Terminal():
		*class = int64(e.Outcome.Class)
	case e.Kind == strategies.Wake && c.Attempts >= a.attempts && c.InFlight == 0:
		return strategies.Unwind(a.inner, now, c, strategies.StopWith(strategies.TriesExhausted, wire.Class(*class)))
	}
	return a.inner.Next(now, c, e)
}
