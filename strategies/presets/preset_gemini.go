package presets

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
	"herdlab/strategies/layers"
)

// geminiCLI is Google's Gemini CLI 0.61 with a fixed model, in a script or if the user
// refuses a fallback: ten attempts; see geminiLoop.
func geminiCLI(Knowledge) strategies.Definition { return geminiOf(geminiModel{attempts: 10}) }

// geminiCLIFallback is Gemini CLI by default, which chooses the model itself: three
// attempts at Pro, model 0 of the provider, and then ten at Flash, model 1. The user
// has to agree to the fallback; here the user agrees at once. The process then stays
// at Flash.
func geminiCLIFallback(Knowledge) strategies.Definition {
	return geminiOf(geminiModel{0, 3}, geminiModel{1, 10})
}

// geminiOf puts geminiLoop inside a loop that restarts broken streams: four attempts,
// 1, 2 and 4 s apart. The client always requests streams, so a 200 that is not a
// stream counts as a broken stream. Its fetch times out after 60 s without a head and
// 300 s without a piece; the pieces of a stream are not modelled, so 300 s is the
// timeout of an attempt.
func geminiOf(models ...geminiModel) strategies.Definition {
	return strategies.Definition{
		Reader: sdkReader{body: true, strict: true, streams: true, hints: spelled(wire.BodyDelay, wire.Sentence)},
		Layers: []strategies.Layer{
			layers.Retry{
				Backoff:     exponential(time.Second, 0),
				MaxAttempts: 4,
				On:          layers.Rules{Classes: strategies.AnyFailure, Replay: layers.ReplayOnly, Marks: layers.MarksIgnored},
				Hints:       ignored,
			},
			geminiRetry(models),
			layers.AttemptTimeout{After: 300 * time.Second},
		},
	}
}

// geminiRetry is retryWithBackoff, applied to one model after the other.
type geminiRetry []geminiModel

// geminiModel is a model and the number of attempts at it.
type geminiModel struct {
	model    uint8
	attempts int64
}

// Build implements strategies.Layer.
func (g geminiRetry) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	l := &geminiLoop{models: g, purpose: b.Purpose()}
	var err error
	if l.own, err = b.Reserve(strategies.PerCall, geminiWords, ""); err != nil {
		return nil, err
	}
	if len(g) > 1 {
		if l.degraded, err = b.Note("degraded"); err != nil {
			return nil, err
		}
		if l.left, err = b.Reserve(strategies.PerClient, 1, ""); err != nil {
			return nil, err
		}
	}
	return b.Loop(l, inner)
}

// geminiLoop retries 429, 499, 5xx, any error with a hint, and lost connections. The
// wait is 5 s ± 30 %, doubled for each retry up to 30 s ± 30 %. A longer hint replaces
// it, plus up to 20 %.
//
// A 429 of a limit per minute without a hint counts as a hint of 60 s. A used-up daily
// quota, a hint of more than five minutes and a missing model (404) end the loop at
// once. A model without capacity, a 429 with that reason, ends it at the third such
// reply; the waits before are 1 and 3 s. If the loop ends so or has used its attempts
// up, the next model follows, if there is one; after lost connections it does not.
type geminiLoop struct {
	models   []geminiModel
	own      strategies.Slot // the words of the call, as below
	left     strategies.Slot // the index of the model at which the client's calls begin
	degraded strategies.Signal
	purpose  strategies.Purpose
}

// The words of the call: the index of its model, the attempts at that model, the next
// wait without jitter, and the replies of a model without capacity.
const (
	geminiAt = iota
	geminiTries
	geminiDelay
	geminiFull
	geminiWords
)

// The times of the loop: the first and the longest wait, the hint of a limit per
// minute, and the longest hint that is followed.
const (
	geminiFirst   = 5 * time.Second
	geminiLongest = 30 * time.Second
	geminiMinute  = 60 * time.Second
	geminiTooLong = 300 * time.Second
)

// Start implements strategies.Loop.
func (l *geminiLoop) Start(_ time.Duration, c *strategies.Call) {
	at := int64(0)
	if len(l.models) > 1 {
		at = *c.Word(l.left, 0)
	}
	*c.Word(l.own, geminiFull) = 0
	l.turn(c, at)
}

// turn begins the attempts at a model.
func (l *geminiLoop) turn(c *strategies.Call, at int64) {
	*c.Word(l.own, geminiAt), *c.Word(l.own, geminiTries), *c.Word(l.own, geminiDelay) = at, 1, int64(geminiFirst)
	if len(l.models) > 1 {
		c.Target.Model = l.models[at].model
	}
}

// After implements strategies.Loop.
func (l *geminiLoop) After(_ time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) strategies.Decision {
	switch {
	case d.End.Reason == strategies.Succeeded:
		if *c.Word(l.own, geminiAt) > 0 {
			d.End.Degraded = true
			c.Raise(l.degraded)
		}
		return d
	case d.End.Reason != strategies.Failed:
		return d
	}
	status, asked := uint16(0), e.Hint()
	if e.Outcome != nil {
		status = e.Outcome.Status
	}
	limited := status == 429 || status == 499 || status == 503
	switch class := d.End.Class; {
	case status > 0 && status < 400: // the outer loop handles broken streams
		return d
	case status == 404 || limited && class == wire.Quota:
		return l.next(c, d, strategies.Failed)
	case asked > geminiTooLong:
		return l.next(c, d, strategies.HintTooLong)
	case limited && status != 503 && class == wire.Overloaded:
		full := c.Word(l.own, geminiFull)
		if *full++; *full >= 3 {
			return l.next(c, d, strategies.TriesExhausted)
		}
		if asked <= 0 {
			asked = []time.Duration{time.Second, 3 * time.Second}[*full-1]
		}
		*c.Word(l.own, geminiDelay) = int64(asked)
	case limited && status != 503 && strategies.Limits.Has(class) && asked <= 0:
		asked = geminiMinute
	case status > 0 && status < 500 && !limited && asked <= 0:
		return d
	}
	tries := c.Word(l.own, geminiTries)
	if *tries >= l.models[*c.Word(l.own, geminiAt)].attempts {
		if d.End.Reason = strategies.TriesExhausted; status == 0 {
			return d
		}
		return l.next(c, d, strategies.TriesExhausted)
	}
	*tries++
	return strategies.Decision{Kind: strategies.Wait, After: l.wait(c, asked)}
}

// wait draws the next wait, with the hint asked, and doubles the wait after it.
func (l *geminiLoop) wait(c *strategies.Call, asked time.Duration) time.Duration {
	delay := (*time.Duration)(c.Word(l.own, geminiDelay))
	*delay = max(*delay, asked)
	low, spread := *delay, saturating.Percent(*delay, 20)
	if asked <= 0 {
		low, spread = saturating.Percent(*delay, 70), saturating.Percent(*delay, 60)
	}
	*delay = min(2**delay, geminiLongest)
	return low + c.Uniform(l.purpose, 0, spread)
}

// next goes on to the next model at once, or ends the call with the reason why.
func (l *geminiLoop) next(c *strategies.Call, d strategies.Decision, why strategies.Reason) strategies.Decision {
	at := *c.Word(l.own, geminiAt) + 1
	if at == int64(len(l.models)) {
		d.End.Reason = why
		return d
	}
	*c.Word(l.left, 0) = at
	l.turn(c, at)
	return strategies.Decision{Kind: strategies.Wait}
}
