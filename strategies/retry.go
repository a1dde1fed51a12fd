package strategies

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// Retry begins what is inside it afresh after a transient failure, until it
// succeeds or the attempts are used up. It is right when failures pass; it is
// harmful without a bound, without jitter, or in more than one layer.
type Retry struct {
	// Backoff says how long to wait before each retry.
	Backoff Backoff
	// MaxAttempts bounds how often what is inside begins, the first time
	// included; 0 means no bound.
	MaxAttempts int
	// IgnoreHint makes the loop deaf to what the provider asks for. By default
	// a hint replaces a shorter base delay and jitter is drawn on top of it, so
	// that the loop never comes back before it was asked to.
	IgnoreHint bool
}

// Backoff is how long a retry loop waits. One that has a method
// Validate() error is asked for its opinion when a stack is built.
type Backoff interface {
	// Delay returns the wait before retry number retry, counted from 0, as a
	// base that a provider's longer hint may replace and the jitter on top of
	// it, both ≥ 0. prev is for a Remembering backoff.
	Delay(c *Call, p Purpose, retry int64, prev time.Duration) (base, jitter time.Duration)
}

// Remembering is a Backoff that needs the wait before the last retry: it is
// told base + jitter of its last answer as prev, 0 at first. Others are always
// told 0 and cost a call one word less.
type Remembering interface {
	Backoff
	RemembersPrevious()
}

// Build implements Layer.
func (r Retry) Build(b *Build, inner Strategy) (Strategy, error) {
	if r.Backoff == nil {
		return nil, errors.New("retry: it needs a backoff; Fixed{} retries at once")
	}
	if r.MaxAttempts < 0 {
		return nil, errors.New("retry: max attempts must not be negative; 0 means no bound")
	}
	if v, ok := r.Backoff.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return nil, fmt.Errorf("retry: %w", err)
		}
	}
	_, remembers := r.Backoff.(Remembering)
	words := 1
	if remembers {
		words = 2
	}
	slot, err := b.Reserve(PerCall, words, "")
	if err != nil {
		return nil, err
	}
	return b.Loop(&retry{Retry: r, tries: slot, remembers: remembers, purpose: b.Purpose()}, inner)
}

type retry struct {
	Retry
	tries     Slot // word 0: how often what is inside began; word 1: the last wait
	remembers bool
	purpose   Purpose
}

// Start implements Loop.
func (r *retry) Start(_ time.Duration, c *Call) {
	*c.Word(r.tries, 0) = 1
	if r.remembers {
		*c.Word(r.tries, 1) = 0
	}
}

// After implements Loop.
func (r *retry) After(_ time.Duration, c *Call, e Event, d Decision) Decision {
	if d.End.Reason != Failed && d.End.Reason != TriesExhausted || !d.End.Class.Transient() {
		return d
	}
	tries := c.Word(r.tries, 0)
	if r.MaxAttempts > 0 && *tries >= int64(r.MaxAttempts) {
		d.End.Reason = TriesExhausted
		return d
	}
	*tries++
	var prev time.Duration
	if r.remembers {
		prev = time.Duration(*c.Word(r.tries, 1))
	}
	base, jitter := r.Backoff.Delay(c, r.purpose, *tries-2, prev)
	base, jitter = max(base, 0), max(jitter, 0) // a backoff from outside may err
	if r.remembers {
		*c.Word(r.tries, 1) = int64(saturatingAdd(base, jitter))
	}
	if hint := hintOf(e); hint > base && !r.IgnoreHint {
		base = hint
	}
	return Decision{Kind: Wait, After: saturatingAdd(base, jitter)}
}

// hintOf is how long the reply that ended an attempt asked to wait.
func hintOf(e Event) time.Duration {
	if e.Outcome == nil {
		return wire.NoHint
	}
	return e.Outcome.RetryAfter
}

// saturatingAdd adds two times ≥ 0; a sum that overflows is Never.
func saturatingAdd(a, b time.Duration) time.Duration {
	if s := a + b; s >= a {
		return s
	}
	return Never
}

// doubled returns base·2ⁿ, but at most limit; limit 0 means no bound but Never.
// It never overflows: base·2ⁿ > limit exactly if base > ⌊limit/2ⁿ⌋.
func doubled(base time.Duration, n int64, limit time.Duration) time.Duration {
	if limit <= 0 {
		limit = Never
	}
	if base > limit>>uint(n) {
		return limit
	}
	return base << uint(n)
}

// validateGrowth says what is wrong with a backoff that grows from base to
// limit.
func validateGrowth(name string, base, limit time.Duration) error {
	switch {
	case base <= 0:
		return fmt.Errorf("%s: the base must be positive, not %v", name, base)
	case limit < 0:
		return fmt.Errorf("%s: the cap must not be negative; 0 means no cap", name)
	}
	return nil
}
