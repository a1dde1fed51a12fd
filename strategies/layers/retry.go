package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Retry runs the inner strategy again after a failure that may be temporary, until
// it succeeds or a bound is reached. Use it where failures are temporary. It is
// harmful without a bound, without jitter, or in more than one layer: the attempts
// of nested loops multiply.
type Retry struct {
	// Backoff sets how long to wait before each retry; it is required.
	Backoff strategies.Backoff `required:"{full_jitter: {base: 1s, cap: 1m}}" about:"How long it waits before each retry."`
	// MaxAttempts bounds how often the inner strategy begins, the first time
	// included; 0 means no bound.
	MaxAttempts int `unit:"attempts" without:"there is no bound" about:"How many attempts a call makes, the first one included."`
	// MaxElapsed bounds the age of the call at which a retry begins: if the next
	// retry would begin later, the call stops at once with DeadlinePassed. 0 means
	// no bound.
	MaxElapsed time.Duration `without:"there is no bound" about:"The age of the call at which no more retry begins; a wait that would end later is not begun."`
	// MinWait is the shortest wait, to which the jitter is added: it prevents a
	// loop without pause after a hint of 0.
	MinWait time.Duration `default:"0s" about:"The shortest wait, to which jitter is added; it prevents a loop without a pause after a hint of 0."`
	// On sets which failures are retried.
	On Rules `without:"the transient classes" about:"Which failures are retried."`
	// Hints sets the effect of the waits that replies ask for.
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
		return errors.New("backoff is required; for retries without a wait use fixed with 0s")
	case r.MaxAttempts < 0:
		return errors.New("max_attempts must not be negative; 0 means no bound")
	case r.MaxElapsed < 0 || r.MinWait < 0:
		return errors.New("max_elapsed and min_wait must not be negative; 0 means no bound")
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
	// words are those of the call. Word 0 is how often the inner strategy began.
	// Word prev, if the backoff uses the previous wait, is that wait; word restart,
	// if hints restart the backoff, is the value of word 0 when it began again.
	words         strategies.Slot
	prev, restart uint32
	remembers     bool
	discerning    strategies.Discerning // nil if the backoff is the same for all classes
	simple        bool                  // the class alone decides, if the outcome has no marks and had not begun
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

// wait returns how long the loop waits before the given try.
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
	base, jitter = max(base, r.MinWait, 0), max(jitter, 0) // a backoff from another module may return negative values
	if r.remembers {
		*c.Word(r.words, r.prev) = int64(saturating.Add(base, jitter))
	}
	if !r.Hints.accepts(hint) {
		return saturating.Add(base, jitter)
	}
	return max(r.Hints.wait(c, r.purpose, base, jitter, hint), r.MinWait)
}
