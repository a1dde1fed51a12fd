package presets

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// The templates of the two founding articles, with their mistakes.

// capacityOnly is what the first article's templates catch.
var capacityOnly = layers.Rules{Classes: strategies.ClassesOf(wire.Overloaded), Marks: layers.MarksIgnored}

// articleCapacity is call_with_retry: five attempts, which are four waits of 1, 2,
// 4 and 8 s and not the 31 s that the article counts, each + U(0, 0.5 s), which
// keeps a herd together. A Retry-After comes first, with the same jitter.
func articleCapacity(Knowledge) strategies.Definition {
	return strategies.Definition{Layers: []strategies.Layer{
		layers.Retry{
			Backoff: backoffs.Exponential{Base: time.Second, Jitter: time.Second / 2}, MaxAttempts: 5,
			On: capacityOnly, Hints: layers.Hints{Use: layers.HintForBase},
		},
	}}
}

// articleFallback is call_with_fallback: the flagship, the standard and the light
// model, once each and without a pause, so that what overloads one is with the
// last within a moment.
func articleFallback(Knowledge) strategies.Definition {
	return strategies.Definition{Layers: []strategies.Layer{layers.Ladder{Rungs: []layers.Rung{{Model: 0}, {Model: 1}, {Model: 2}}, On: capacityOnly}}}
}

// articleThreeTiers is the article's cure: the flagship twice, the standard model
// once, the light one once, and 90 to 150 s between any two. Models 0, 1 and 2
// of the provider are meant.
func articleThreeTiers(Knowledge) strategies.Definition {
	return strategies.Definition{Layers: []strategies.Layer{layers.Ladder{
		Rungs:   []layers.Rung{{Model: 0, Tries: 2}, {Model: 1, Tries: 1}, {Model: 2, Tries: 1}},
		On:      capacityOnly,
		Backoff: backoffs.Uniform{Low: 90 * time.Second, High: 150 * time.Second},
	}}}
}

// code14003 is all that the second article's templates retry.
var code14003 = layers.Rules{Classes: strategies.ClassesOf(wire.Rate), Marks: layers.MarksIgnored}

// article14003 is request_with_retry: five attempts, retry_after or else 2ⁿ s
// between them, and the same once more before it gives up. Without retry_after that
// is 31 s, 16 of them for nothing.
func article14003(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: codeReader{}, Layers: []strategies.Layer{
		afterthought{5},
		layers.Retry{Backoff: exponential(time.Second, 0), On: code14003, Hints: layers.Hints{Use: layers.HintForBase}},
		layers.AttemptTimeout{After: 30 * time.Second},
	}}
}

// articleSemaphore is limited_request: two permits, and a recursion inside that
// takes another one. A lone caller hangs at its second 14003 in a row, two callers
// at the first that they have together.
func articleSemaphore(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: codeReader{}, Layers: []strategies.Layer{
		layers.RecursiveSemaphore{
			Permits: 2, Scope: strategies.PerClient,
			Retry: layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, On: code14003, Hints: layers.Hints{Use: layers.HintForBase}},
		},
		layers.AttemptTimeout{After: 30 * time.Second},
	}}
}

// articleClient is RateLimitedClient: one permit, which is held while it sleeps; an
// interval of 0.3 s + U(0, 20 ms), which is kept once a call and not by its
// retries; four attempts, retry_after or else 2ⁿ s + U(0, 0.5 s) between them and
// once more at the end.
func articleClient(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: codeReader{}, Layers: []strategies.Layer{
		layers.Concurrency{Permits: 1, Scope: strategies.PerClient},
		layers.MinInterval{Every: 300 * time.Millisecond, Jitter: 20 * time.Millisecond, Scope: strategies.PerClient},
		afterthought{4},
		layers.Retry{Backoff: backoffs.Exponential{Base: time.Second, Jitter: time.Second / 2}, On: code14003, Hints: layers.Hints{Use: layers.HintForBase}},
		layers.AttemptTimeout{After: 30 * time.Second},
	}}
}

// articleBucket is TokenBucket with the numbers of the article: 1.4 a second, which
// is 0.7 of 120 a minute, and a burst of 3, half of the concurrency. It is one
// process's, so that k processes send 0.7·k of the limit; and it retries nothing.
// (That its waiters look every 50 ms, and the luckiest wins, is left out.)
func articleBucket(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: codeReader{}, Layers: []strategies.Layer{
		layers.TokenBucket{Rate: 7, Per: 5 * time.Second, Burst: 3, Scope: strategies.PerClient},
		layers.AttemptTimeout{After: 30 * time.Second},
	}}
}

// afterthought lets an unbounded loop inside make so many attempts and wait after
// the last one too, before it gives up:
//
//	for attempt in range(5):
//	    ...
//	    time.sleep(wait)
//	raise
type afterthought struct{ attempts uint32 }

// Build implements Layer.
func (a afterthought) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	class, err := b.Reserve(strategies.PerCall, 1, "")
	return &afterthinking{a, inner, class}, err
}

type afterthinking struct {
	afterthought
	inner strategies.Strategy
	class strategies.Slot // of the last failure
}

// Next implements Strategy.
func (a *afterthinking) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	class := c.Word(a.class, 0)
	switch {
	case e.Terminal():
		*class = int64(e.Outcome.Class)
	case e.Kind == strategies.Wake && c.Attempts >= a.attempts && c.InFlight == 0:
		return strategies.Unwind(a.inner, now, c, strategies.StopWith(strategies.TriesExhausted, wire.Class(*class)))
	}
	return a.inner.Next(now, c, e)
}
