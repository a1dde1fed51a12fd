package mockprovider

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/sim/saturating"
)

// Hint is what a refusal states about when to come back. It is written as exactly as
// the spelling allows, rounded up, so that a client that obeys a true hint is never
// early; unless it is rounded down on purpose.
type Hint struct {
	Kind HintKind
	// Value is the wait a Constant hint states.
	Value time.Duration
	// Factor makes the hint wrong: the wait is multiplied by it. 0 stands
	// for 1; 1000 is seconds where milliseconds are meant, 0.5 sends callers
	// back too early.
	Factor float64
	// Jitter spreads callers: the wait is longer by U(0, Jitter). That draw
	// belongs to the call and the attempt.
	Jitter time.Duration
}

// HintKind is how a hint is made.
type HintKind uint8

// The kinds of hints. All but NoHint and Constant need an Admission that is known;
// otherwise there is no hint.
const (
	NoHint      HintKind = iota // none
	Constant                    // always the same wait
	Exact                       // the time until the request would be admitted
	RoundedUp                   // the same in whole seconds, rounded up
	RoundedDown                 // the same in whole seconds, rounded down: as a wait or, if the spelling is dated, as a time
	numHints    = iota
)

// Validate reports an error if the hint is invalid; the error also says what to do.
func (h *Hint) Validate() error {
	switch {
	case h.Kind >= numHints:
		return fmt.Errorf("there is no kind %d of hint", h.Kind)
	case h.Value < 0:
		return errors.New("a hint must not be negative")
	case !(h.Factor >= 0 && h.Factor <= MaxFactor):
		return fmt.Errorf("%g is no factor of a hint; use a number above 0, up to %g", h.Factor, float64(MaxFactor))
	}
	return ValidateDuration("the jitter of a hint", h.Jitter)
}

// hint returns the value of a hint for r, which would be admitted after ready, as
// it is written in that spelling; wire.NoHint if there is none.
func (p *Provider) hint(now time.Duration, r *wire.Request, h *Hint, ready Admission, spelled wire.Spelling) time.Duration {
	wait, ok := h.wait(p.rnd, r, ready)
	if !ok {
		return wire.NoHint
	}
	unit, down := max(spelled.Unit(), h.unit()), h.Kind == RoundedDown
	if spelled.Dated() {
		return p.dated(now, wait, unit, down)
	}
	return rounded(wait, unit, down)
}

// wait returns the wait that the hint states to r, before it is rounded; ok
// reports whether there is one.
func (h *Hint) wait(rnd draw.Rand, r *wire.Request, ready Admission) (wait time.Duration, ok bool) {
	if wait, ok = ready.After(); h.Kind == Constant {
		wait, ok = h.Value, true
	}
	if !ok {
		return 0, false
	}
	if h.Factor != 0 {
		wait = min(rnd.Scale(wait, h.Factor), longest)
	}
	if h.Jitter > 0 {
		wait = saturating.Add(wait, rnd.For(r.Call).Uniform(lot(r.Attempt, forHint), 0, h.Jitter))
	}
	return wait, true
}

// unit returns the unit that the hint is rounded to, whatever its spelling.
func (h *Hint) unit() time.Duration {
	if h.Kind == RoundedUp || h.Kind == RoundedDown {
		return time.Second
	}
	return 1
}

// rounded returns d in whole units, rounded up, or down; never is as whole as
// it is.
func rounded(d, unit time.Duration, down bool) time.Duration {
	part := d % unit
	if part < 0 {
		part += unit
	}
	switch {
	case part == 0:
		return d
	case down:
		return d - part
	case d > never-(unit-part):
		return never
	}
	return d + (unit - part)
}
