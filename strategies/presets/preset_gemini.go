package presets

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
	"herdlab/strategies/layers"
)

// geminiCLI is Google's Gemini CLI 0.61 with a model chosen by hand, in a script
// or with a user who will not change it: ten attempts, as geminiLoop says.
func geminiCLI(Knowledge) strategies.Definition { return geminiOf(geminiModel{attempts: 10}) }

// geminiCLIFallback is the same as it comes, choosing the model itself: three
// attempts at Pro, model 0 of the provider, and then, if its user says yes to the
// question, which is meant to happen at once, ten at Flash, model 1. The process
// stays there.
func geminiCLIFallback(Knowledge) strategies.Definition {
	return geminiOf(geminiModel{0, 3}, geminiModel{1, 10})
}

// geminiOf puts the loop into the one that begins a stream again that broke: four
// times in all, 1, 2 and 4 s apart. It always asks for streams, so that a 200 which
// is none has broken, too. Its fetch gives up after 60 s without a head and 300 s
// without a piece; as pieces are not told apart here, an attempt has the longer.
func geminiOf(models ...geminiModel) strategies.Definition {
	return strategies.Definition{
		Reader: sdkReader{body: true, strict: true, streams: true, hears: spelled(wire.BodyDelay, wire.Sentence)},
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

// geminiRetry is retryWithBackoff, at one model after the other.
type geminiRetry []geminiModel

// geminiModel is a model and how many attempts it gets.
type geminiModel struct {
	model    uint8
	attempts int64
}

// Build implements Layer.
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

// geminiLoop retries 429, 499, 5xx, whatever says how long to wait, and lost
// connections. The wait is ± 30 % of 5 s, which doubles up to 30 s; one that is
// asked for replaces it if it is longer, with up to 20 % on top.
//
// A limit by the minute that says nothing asks for 60 s. A spent daily quota, a
// wait of more than five minutes and a model that is not there end it at once; a
// model without capacity, which is a 429 of that name, ends it at its third, 1 and
// 3 s apart. What has ended it or used its attempts up leads on to the next model,
// if there is one; lost connections do not.
type geminiLoop struct {
	models   []geminiModel
	own      strategies.Slot // the call's words, as below
	left     strategies.Slot // how many models the client has left behind
	degraded strategies.Signal
	purpose  strategies.Purpose
}

// The words of the call: which of the models it is at, how often it has asked it,
// for how long it waits next, and how often it has met a model without capacity.
const (
	geminiAt = iota
	geminiTries
	geminiDelay
	geminiFull
	geminiWords
)

// The times of the loop.
const (
	geminiFirst   = 5 * time.Second
	geminiLongest = 30 * time.Second
	geminiMinute  = 60 * time.Second
	geminiTooLong = 300 * time.Second
)

// Start implements Loop.
func (l *geminiLoop) Start(_ time.Duration, c *strategies.Call) {
	at := int64(0)
	if len(l.models) > 1 {
		at = *c.Word(l.left, 0)
	}
	*c.Word(l.own, geminiFull) = 0
	l.turn(c, at)
}

// turn begins with a model.
func (l *geminiLoop) turn(c *strategies.Call, at int64) {
	*c.Word(l.own, geminiAt), *c.Word(l.own, geminiTries), *c.Word(l.own, geminiDelay) = at, 1, int64(geminiFirst)
	if len(l.models) > 1 {
		c.Target.Model = l.models[at].model
	}
}

// After implements Loop.
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
	case status > 0 && status < 400: // the loop around it is for streams
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

// wait draws the next wait, if so much is asked for, and lengthens the one after.
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

// next goes on to the next model at once, or ends as why says.
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
