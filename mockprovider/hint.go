package mockprovider

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/sim/saturating"
)

// Hint is what a refusal says about when to come back. What it says is written
// as exactly as the spelling can, rounded up, so that who obeys a true hint is
// never early; unless it is rounded down on purpose.
type Hint struct {
	Kind HintKind
	// Value is the wait a Constant hint states.
	Value time.Duration
	// Factor makes the hint wrong: what it says is multiplied by it. 0 stands
	// for 1; 1000 is seconds where milliseconds are meant, 0.5 sends callers
	// back too early.
	Factor float64
	// Jitter spreads callers: what it says is longer by U(0, Jitter). That luck
	// belongs to the call and the attempt.
	Jitter time.Duration
}

// HintKind is how a hint is made.
type HintKind uint8

// The kinds of hints. All but NoHint and Constant need somebody who knows when the
// request would be let in; who does not gives no hint.
const (
	NoHint      HintKind = iota // nothing is said
	Constant                    // always the same wait
	Exact                       // the time until the request would be let in
	RoundedUp                   // the same in whole seconds, rounded up
	RoundedDown                 // the same in whole seconds, rounded down: as a wait or, if the spelling is dated, as a time
	numHints    = iota
)

// Validate says what is wrong with the hint, and what to do.
func (h *Hint) Validate() error {
	switch {
	case h.Kind >= numHints:
		return fmt.Errorf("there is no kind %d of hint", h.Kind)
	case h.Value < 0:
		return errors.New("a hint must not be negative")
	case !(h.Factor >= 0 && h.Factor <= maxFactor):
		return fmt.Errorf("%g is no factor of a hint; use a number above 0, up to %g", h.Factor, float64(maxFactor))
	}
	return validateLength("the jitter of a hint", h.Jitter)
}

// wait is what the hint says to r, which would be let in after ready;
// wire.NoHint if it says nothing.
func (h *Hint) wait(rnd draw.Rand, r *wire.Request, ready time.Duration) time.Duration {
	switch {
	case h.Kind == Constant:
		ready = h.Value
	case ready == wire.NoHint:
		return wire.NoHint
	}
	if h.Factor != 0 {
		ready = min(rnd.Scale(ready, h.Factor), longest)
	}
	if h.Jitter > 0 {
		ready = saturating.Add(ready, rnd.For(r.Call).Uniform(lot(r.Attempt, forHint), 0, h.Jitter))
	}
	return ready
}

// unit is what the hint is rounded to, whatever its spelling.
func (h *Hint) unit() time.Duration {
	if h.Kind == RoundedUp || h.Kind == RoundedDown {
		return time.Second
	}
	return 1
}

// hint is how limits with these terms say when to come back.
func (t Terms) hint() Hint { return t.Refusal.Hint }

// wording is how the refusals of a limit say when to come back.
type wording struct {
	hint  Hint
	tiers []tierWording // of a limit that has tiers
}

type tierWording struct {
	match Match
	wording
}

// wordingOf returns the wording of a limit. One that has no Terms says what its
// gate writes.
func wordingOf(l Limit) wording {
	w := wording{hint: Hint{Kind: Exact}}
	switch l := l.(type) {
	case interface{ hint() Hint }:
		w.hint = l.hint()
	case Only:
		w.tiers = []tierWording{{l.Match, wordingOf(l.Limit)}}
	case Tiered:
		for _, o := range l {
			w.tiers = append(w.tiers, tierWording{o.Match, wordingOf(o.Limit)})
		}
	}
	return w
}

// of returns the hint in a refusal of r.
func (w *wording) of(r *wire.Request) *Hint {
	if w.tiers == nil {
		return &w.hint
	}
	return w.ofTier(r)
}

func (w *wording) ofTier(r *wire.Request) *Hint {
	for i := range w.tiers {
		if t := &w.tiers[i]; t.match.Of(r) {
			return t.of(r)
		}
	}
	return &w.hint
}
