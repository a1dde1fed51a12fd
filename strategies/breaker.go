package strategies

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// Breaker stops attempts for a while after a run of failures. Closed, it lets
// everything in and counts consecutive failures; at Failures of them it opens
// for OpenFor. Then it lets in one probe: any success closes it at once, a
// failed probe opens it again, and a probe that ends otherwise or does not end
// within ProbeTimeout gives its place to another. Failures of attempts that
// were under way when it opened do not prolong it, and what another layer
// refuses without an attempt is no failure.
//
// It is right where many attempts share one fate, and best with memory shared
// by all who share it; it protects the provider, and needs jitter to protect
// it from the waiting crowd as well.
type Breaker struct {
	// Failures is how many consecutive failures open it, 1 to MaxFailures.
	Failures int
	// OpenFor is how long it stays open.
	OpenFor time.Duration
	// ProbeTimeout is when a probe that has not ended is given up; 0 means
	// OpenFor.
	ProbeTimeout time.Duration
	// FailFast settles a refused call at once. Otherwise it waits until the
	// breaker may close, at least MinWait, plus U(0, Jitter), and asks again.
	FailFast        bool
	MinWait, Jitter time.Duration
	// Scope is who shares the breaker, PerClient or wider; Name tells
	// breakers apart that everyone shares. Those who share one must agree on
	// Failures, OpenFor and ProbeTimeout.
	Scope Scope
	Name  string
}

// MaxFailures bounds Breaker.Failures.
const MaxFailures = 1<<30 - 1

// Build implements Layer.
func (k Breaker) Build(b *Build, inner Strategy) (Strategy, error) {
	if err := k.validate(); err != nil {
		return nil, fmt.Errorf("breaker: %w", err)
	}
	if k.ProbeTimeout == 0 {
		k.ProbeTimeout = k.OpenFor
	}
	config := fmt.Sprintf("{%d failures, open for %v, probe timeout %v}", k.Failures, k.OpenFor, k.ProbeTimeout)
	shared, err := b.reserve(k.Scope, 2, "breaker "+k.Name, config)
	if err != nil {
		return nil, err
	}
	own, err := b.Reserve(PerCall, 1, "")
	if err != nil {
		return nil, err
	}
	return b.Guard(&breaker{Breaker: k, shared: shared, own: own, purpose: b.Purpose()}, inner)
}

func (k Breaker) validate() error {
	switch {
	case k.Failures < 1 || k.Failures > MaxFailures:
		return fmt.Errorf("failures must be 1 to %d, not %d", MaxFailures, k.Failures)
	case k.OpenFor <= 0:
		return errors.New("the open time must be positive")
	case k.ProbeTimeout < 0:
		return errors.New("the probe timeout must not be negative; 0 means the open time")
	case !k.FailFast && k.MinWait <= 0:
		return errors.New("a refused call must wait a positive time or fail fast")
	case k.Jitter < 0:
		return errors.New("the jitter must not be negative")
	}
	return shareable(k.Scope, k.Name)
}

// The first shared word of a breaker holds its state in the lowest bits, the
// count of consecutive failures above them, and in the upper half the serial
// number of its latest probe, so that a probe whose place was given to another
// is told from its successor. The second word is the time when an open breaker
// may close, or when a probe is given up.
const (
	closed = iota
	open
	probing

	stateMask  = 3
	oneFailure = stateMask + 1
	upperHalf  = 32
	lowerMask  = 1<<upperHalf - 1
)

type breaker struct {
	Breaker
	shared Slot
	// own is 0, or says that the call is let in as a probe: its serial number
	// in the upper half, the number of its first attempt in the lower.
	own     Slot
	purpose Purpose
}

// Admit implements Guard.
func (k *breaker) Admit(now time.Duration, c *Call) Decision {
	word, until := c.Word(k.shared, 0), c.Word(k.shared, 1)
	state := *word & stateMask
	if state == closed {
		return Decision{}
	}
	if int64(now) >= *until { // the open time is over, or the last probe is lost
		serial := (*word>>upperHalf + 1) << upperHalf
		*word = serial | probing
		*until = int64(saturatingAdd(now, k.ProbeTimeout))
		*c.Word(k.own, 0) = serial | int64(c.Attempts+1)
		return Decision{}
	}
	if k.FailFast {
		return stop(BreakerOpen, wire.Overloaded)
	}
	wait := k.MinWait
	if state == open {
		wait = max(wait, time.Duration(*until)-now)
	}
	return Decision{Kind: Wait, After: saturatingAdd(wait, c.Uniform(k.purpose, 0, k.Jitter))}
}

// Observe implements Guard.
func (k *breaker) Observe(now time.Duration, c *Call, e Event, d Decision) {
	word, until, own := c.Word(k.shared, 0), c.Word(k.shared, 1), c.Word(k.own, 0)
	// A breaker outside a loop lets in a call, whose last attempt need not be
	// the one that was announced; so any later one ends the probe as well.
	// Inside a loop both are the same unless attempts are hedged.
	probe := false
	if *own != 0 && (!e.Terminal() || int64(e.Attempt) >= *own&lowerMask) {
		probe = *word&stateMask == probing && *own>>upperHalf == *word>>upperHalf
		*own = 0
	}
	switch {
	case d.End.Reason == Succeeded:
		*word &^= lowerMask // closed, no failures
	case d.End.Class.Transient() && d.End.Reason != BreakerOpen && d.End.Reason != LimiterRefused:
		if *word&stateMask == closed {
			*word += oneFailure
			if *word&lowerMask < int64(k.Failures)*oneFailure {
				return
			}
		} else if !probe {
			return // under way since before it opened
		}
		*word = *word&^lowerMask | open
		*until = int64(saturatingAdd(now, k.OpenFor))
	case probe:
		*until = int64(now) // neither success nor failure: the next may probe
	}
}
