package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Retry begins what is inside it afresh after a failure that may pass, until it
// succeeds or a bound is reached. It is right when failures pass; it is harmful
// without a bound, without jitter, or in more than one layer: nested loops
// multiply.
type Retry struct {
	// Backoff says how long to wait before each retry.
	Backoff strategies.Backoff `required:"{full_jitter: {base: 1s, cap: 1m}}" about:"How long it waits before each retry."`
	// MaxAttempts bounds how often what is inside begins, the first time
	// included; 0 means no bound.
	MaxAttempts int `unit:"attempts" without:"there is no bound" about:"How many attempts a call makes, the first one included."`
	// MaxElapsed bounds the age of the call at which a retry begins: one that
	// would begin later is not waited for, and the call stops at once with
	// DeadlinePassed. 0 means no bound.
	MaxElapsed time.Duration `without:"there is no bound" about:"The age of the call at which no more retry begins; a wait that would end later is not begun."`
	// MinWait is the shortest wait there is, below the jitter: with it, a hint
	// of 0 does not become a hot loop.
	MinWait time.Duration `default:"0s" about:"The shortest wait, to which jitter is added; it prevents a loop without a pause after a hint of 0."`
	// On says which failures are retried.
	On Rules `without:"the transient classes" about:"Which failures are retried."`
	// Hints says what becomes of the waits that the provider asks for.
	Hints Hints `about:"How the waits that replies ask for count."`
}

// Build implements Layer.
func (r Retry) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if err := r.validate(); err != nil {
		return nil, fmt.Errorf("retry: %w", err)
	}
	r.On.Classes = r.On.Classes.Or(strategies.Transient)
	loop := &retry{Retry: r, purpose: b.Purpose(), simple: r.On.byClass()}
	_, loop.remembers = r.Backoff.(strategies.Remembering)
	loop.discerning, _ = r.Backoff.(strategies.Discerning)
	words := 1
	if loop.remembers {
		loop.prev = uint32(words)
		words++
	}
	if r.Hints.Restart {
		loop.restart = uint32(words)
		words++
	}
	var err error
	if loop.words, err = b.Reserve(strategies.PerCall, words, ""); err != nil {
		return nil, err
	}
	return b.Loop(loop, inner)
}

func (r *Retry) validate() error {
	switch {
	case r.Backoff == nil:
		return errors.New("it needs a backoff; a fixed one of 0 retries at once")
	case r.MaxAttempts < 0:
		return errors.New("max attempts must not be negative; 0 means no bound")
	case r.MaxElapsed < 0 || r.MinWait < 0:
		return errors.New("the elapsed time and the least wait must not be negative; 0 means no bound")
	}
	if err := strategies.ValidateBackoff(r.Backoff); err != nil {
		return err
	}
	if err := r.On.Validate(); err != nil {
		return err
	}
	return r.Hints.validate()
}

type retry struct {
	Retry
	// words are the call's: word 0 is how often what is inside began; the last
	// wait, if the backoff remembers, and the value of word 0 when the backoff
	// began anew, if hints restart it, stand where prev and restart say.
	words         strategies.Slot
	prev, restart uint32
	remembers     bool
	discerning    strategies.Discerning // nil if the backoff is not
	simple        bool                  // failures go by their class alone, unless there is more to them
	purpose       strategies.Purpose
}

// Start implements Loop.
func (r *retry) Start(_ time.Duration, c *strategies.Call) {
	*c.Word(r.words, 0) = 1
	if r.remembers {
		*c.Word(r.words, r.prev) = 0
	}
	if r.Hints.Restart {
		*c.Word(r.words, r.restart) = 1
	}
}

// After implements Loop.
func (r *retry) After(now time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) strategies.Decision {
	if d.End.Reason == strategies.Succeeded {
		return d
	}
	if o := e.Outcome; r.simple && o != nil && d.End.Reason == strategies.Failed && !o.Begun && o.Marks == 0 {
		if !r.On.Classes.Has(d.End.Class) {
			return d
		}
	} else if !r.On.Retries(o, d.End) {
		return d
	}
	tries := c.Word(r.words, 0)
	if r.MaxAttempts > 0 && *tries >= int64(r.MaxAttempts) {
		d.End.Reason = strategies.TriesExhausted
		return d
	}
	hint := e.Hint()
	if r.Hints.tooLong(hint) {
		d.End.Reason = strategies.HintTooLong
		return d
	}
	*tries++
	wait := r.wait(c, *tries, d.End.Class, hint)
	if r.MaxElapsed > 0 && saturating.Add(now-c.Born, wait) > r.MaxElapsed {
		d.End.Reason = strategies.DeadlinePassed
		return d
	}
	return strategies.Decision{Kind: strategies.Wait, After: wait}
}

// wait is how long the loop waits before what is inside begins for the tries-th
// time.
func (r *retry) wait(c *strategies.Call, tries int64, class wire.Class, hint time.Duration) time.Duration {
	b, retry := r.Backoff, tries-2
	if r.discerning != nil {
		b = r.discerning.For(class)
	}
	if r.Hints.Restart {
		since := c.Word(r.words, r.restart)
		retry -= *since - 1
		if r.Hints.accepts(hint) {
			*since = tries
		}
	}
	var prev time.Duration
	if r.remembers {
		prev = time.Duration(*c.Word(r.words, r.prev))
	}
	base, jitter := b.Delay(c, r.purpose, retry, prev)
	base, jitter = max(base, r.MinWait, 0), max(jitter, 0) // a backoff from outside may err
	if r.remembers {
		*c.Word(r.words, r.prev) = int64(saturating.Add(base, jitter))
	}
	if !r.Hints.accepts(hint) {
		return saturating.Add(base, jitter)
	}
	return max(r.Hints.wait(c, r.purpose, base, jitter, hint), r.MinWait)
}
