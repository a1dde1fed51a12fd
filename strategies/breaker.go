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
// were under way when it opened do not prolong it.
//
// It is right where many attempts share one fate, and best with memory shared
// by all who share it; it protects the provider, and needs jitter to protect
// it from the waiting crowd as well.
type Breaker struct {
	// Failures is how many consecutive failures open it, ≥ 1.
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
	// breakers apart that everyone shares.
	Scope Scope
	Name  string
}

// Build implements Layer.
func (k Breaker) Build(b *Build, inner Strategy) (Strategy, error) {
	switch {
	case k.Failures < 1:
		return nil, errors.New("breaker: failures must be at least 1")
	case k.OpenFor <= 0:
		return nil, errors.New("breaker: the open time must be positive")
	case !k.FailFast && k.MinWait <= 0:
		return nil, errors.New("breaker: a refused call must wait a positive time or fail fast")
	case k.Scope == PerCall:
		return nil, fmt.Errorf("breaker: scope %v remembers nothing between calls; use client, fleet or everyone", k.Scope)
	}
	if k.ProbeTimeout == 0 {
		k.ProbeTimeout = k.OpenFor
	}
	shared, err := b.Reserve(k.Scope, 2, "breaker "+k.Name)
	if err != nil {
		return nil, err
	}
	own, err := b.Reserve(PerCall, 1, "")
	if err != nil {
		return nil, err
	}
	return b.Guard(&breaker{Breaker: k, shared: shared, own: own, purpose: b.Purpose()}, inner)
}

// The states of a breaker, in the low bits of its first word; the count of
// consecutive failures is above them. Its second word is the time when an open
// breaker may close, or when a probe is given up.
const (
	closed = iota
	open
	probing
	stateBits = 2
	stateMask = 1<<stateBits - 1
)

type breaker struct {
	Breaker
	shared  Slot
	own     Slot // the number of the attempt that is the probe, 0 if none
	purpose Purpose
}

// Admit implements Guard.
func (k *breaker) Admit(now time.Duration, c *Call) Decision {
	state, until := c.Word(k.shared, 0), c.Word(k.shared, 1)
	if *state&stateMask == closed {
		return Decision{}
	}
	if int64(now) >= *until { // the open time is over, or the last probe is lost
		*state = probing
		*until = int64(saturatingAdd(now, k.ProbeTimeout))
		*c.Word(k.own, 0) = int64(c.Attempts) + 1
		return Decision{}
	}
	if k.FailFast {
		return stop(BreakerOpen, wire.Overloaded)
	}
	wait := k.MinWait
	if *state&stateMask == open {
		wait = max(wait, time.Duration(*until)-now)
	}
	return Decision{Kind: Wait, After: wait + c.Uniform(k.purpose, 0, k.Jitter)}
}

// Observe implements Guard.
func (k *breaker) Observe(now time.Duration, c *Call, e Event, d Decision) {
	state, until, probe := c.Word(k.shared, 0), c.Word(k.shared, 1), c.Word(k.own, 0)
	// A breaker outside a loop lets in a call, whose last attempt need not be
	// the one that was announced; so the call, and not the number, decides
	// there. Inside a loop both are the same unless attempts are hedged.
	isProbe := *probe != 0 && (!e.Terminal() || int64(e.Attempt) >= *probe)
	if isProbe {
		*probe = 0
	}
	switch {
	case d.End.Reason == Succeeded:
		*state = closed
	case d.End.Class.Transient():
		switch *state & stateMask {
		case closed:
			*state += 1 << stateBits
			if *state>>stateBits >= int64(k.Failures) {
				*state, *until = open, int64(saturatingAdd(now, k.OpenFor))
			}
		case probing:
			if isProbe {
				*state, *until = open, int64(saturatingAdd(now, k.OpenFor))
			}
		}
	case isProbe && *state&stateMask == probing:
		*until = int64(now) // neither success nor failure: the next may probe
	}
}
