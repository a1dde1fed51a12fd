package mockprovider

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// Hint is what a refusal says about when to come back.
type Hint struct {
	Kind HintKind
	// Value is the wait a Constant hint states.
	Value time.Duration
}

// HintKind is how a hint is made.
type HintKind uint8

// The kinds of hints. All but NoHint and Constant need a gate that knows when it will
// admit again; a gate that does not gives no hint.
const (
	NoHint      HintKind = iota // nothing is said
	Constant                    // always the same wait
	Exact                       // the time until the gate admits again
	RoundedUp                   // the same in whole seconds, rounded up
	RoundedDown                 // the same in whole seconds, rounded down
)

// Refusal is the form in which one reason to refuse is put on the wire. The
// zero value is the form that the provider has for the class, without a hint.
type Refusal struct {
	// Status is the HTTP status, 200 to 599, or 0 for the provider's form; Body
	// and Code say whether the body carries a business code, and which.
	Status uint16
	Body   wire.Body
	Code   int32
	Hint   Hint
	// Spelled is how the hint is written, where Status is not 0 or, if it is
	// not wire.Plainly, in place of the provider's spelling.
	Spelled wire.Spelling
	// Shows is the class that the form reads as, where it has one text for
	// several; wire.OK, which no refusal shows, for the true one.
	Shows wire.Class
	// Says is the limit that the reply states in place of the one that
	// refused; 0 states that one. Some providers have one limit in all their
	// replies, whichever of several was hit.
	Says int32
}

// Forms of no provider in particular.
var (
	// As14003 is HTTP 200 around {"code":14003,…}. It says "too many requests",
	// whatever the reason is.
	As14003 = Refusal{Status: 200, Body: wire.CodeBody, Code: wire.Code14003, Shows: wire.Rate, Spelled: wire.BodySeconds}
	// As429, As503 and As401 are an error body under that status.
	As429 = Refusal{Status: 429, Body: wire.ErrorBody}
	As503 = Refusal{Status: 503, Body: wire.ErrorBody}
	As401 = Refusal{Status: 401, Body: wire.ErrorBody}
)

// WithHint returns r with the given hint.
func (r Refusal) WithHint(h Hint) Refusal {
	r.Hint = h
	return r
}

// SpelledAs returns r with hints written that way.
func (r Refusal) SpelledAs(s wire.Spelling) Refusal {
	r.Spelled = s
	return r
}

// Validate says what is wrong with the form, and what to do.
func (r Refusal) Validate() error {
	switch {
	case r.Status == 0 && (r.Body != wire.Completion || r.Code != 0):
		return errors.New("refusal: a body or a code needs a status")
	case r.Status != 0 && (r.Status < 200 || r.Status > 599):
		return fmt.Errorf("refusal: status %d is not a final HTTP status; use 200 to 599", r.Status)
	case r.Body > wire.CodeBody:
		return fmt.Errorf("refusal: there is no body shape %d", r.Body)
	case r.Code != 0 && r.Body != wire.CodeBody:
		return fmt.Errorf("refusal: code %d needs a body that carries it", r.Code)
	case r.Status != 0 && r.Status < 400 && r.Body != wire.CodeBody:
		return fmt.Errorf("refusal: status %d without a business code is a success to everyone", r.Status)
	case r.Shows >= wire.NumClasses:
		return fmt.Errorf("refusal: there is no class %d to show", r.Shows)
	case r.Hint.Kind > RoundedDown:
		return fmt.Errorf("refusal: there is no kind %d of hint", r.Hint.Kind)
	case r.Hint.Value < 0:
		return errors.New("refusal: a hint must not be negative")
	case r.Spelled >= wire.NumSpellings:
		return fmt.Errorf("refusal: there is no spelling %d", r.Spelled)
	case r.Says < 0:
		return errors.New("refusal: the limit that it says must not be negative; 0 says the one that refused")
	}
	return nil
}

// reply writes the refusal to the reply. ready is how long until the gate
// admits again, wire.NoHint if it cannot say. The provider finishes what it
// says: see Provider.phrase.
func (r *Refusal) reply(to *wire.Reply, class wire.Class, ready time.Duration, limit, remaining int32) {
	hint := wire.NoHint
	switch r.Hint.Kind {
	case Constant:
		hint = r.Hint.Value
	case Exact:
		hint = ready
	case RoundedUp:
		if hint = ready; ready > 0 {
			hint = roundUp(ready, time.Second)
		}
	case RoundedDown:
		if hint = ready; ready > 0 {
			hint = ready - ready%time.Second
		}
	}
	if r.Says > 0 {
		limit = r.Says
	}
	shown := class
	if r.Shows != wire.OK {
		shown = r.Shows
	}
	to.RetryAfter, to.Code, to.Limit, to.Remaining = hint, r.Code, limit, remaining
	to.Status, to.Class, to.Shown, to.Body, to.Spelled = r.Status, class, shown, r.Body, r.Spelled
}

// roundUp returns d ≥ 0 in whole units, rounded up.
func roundUp(d, unit time.Duration) time.Duration {
	if part := d % unit; part > 0 {
		return later(d, unit-part)
	}
	return d
}

// phrase finishes a refusal made at now: it gives one that has no form of its
// own the provider's for its class, and writes the hint as exactly as the
// spelling can. A hint is rounded up, so that who obeys it is never early;
// whether it is also true is the hint's own business.
func (p *Provider) phrase(now time.Duration, to *wire.Reply) {
	if to.Status == 0 {
		f := &p.forms[to.Class]
		to.Status, to.Body, to.Code, to.Shown, to.Words, to.Marks = f.Status, f.Body, f.Code, f.Shown, f.Words, f.Marks
		if to.Spelled == wire.Plainly {
			to.Spelled = f.Spelled
		}
	}
	switch {
	case to.RetryAfter == wire.NoHint:
	case to.Spelled == wire.Unspeakable:
		to.RetryAfter = wire.NoHint
	case to.Spelled.Dated():
		to.RetryAfter = roundUp(later(now, to.RetryAfter), to.Spelled.Unit())
	case to.Spelled != wire.Plainly && to.Spelled != wire.BodySeconds:
		to.RetryAfter = roundUp(to.RetryAfter, to.Spelled.Unit())
	}
}
