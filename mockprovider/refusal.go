package mockprovider

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
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
	// Marks is an x-should-retry header beside it, wire.SaysRetry or
	// wire.SaysStop; 0 sends none.
	Marks wire.Marks
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
	case r.Spelled >= wire.NumSpellings:
		return fmt.Errorf("refusal: there is no spelling %d", r.Spelled)
	case r.Says < 0:
		return errors.New("refusal: the limit that it says must not be negative; 0 says the one that refused")
	case r.Marks != 0 && r.Marks != wire.SaysRetry && r.Marks != wire.SaysStop:
		return errors.New("refusal: its marks are wire.SaysRetry, wire.SaysStop or none")
	}
	if err := r.Hint.Validate(); err != nil {
		return fmt.Errorf("refusal: %w", err)
	}
	return nil
}

// reply writes the refusal to the reply. ready is how long until the gate
// admits again, wire.NoHint if it cannot say. The provider finishes what it
// says: see Provider.phrase.
func (r *Refusal) reply(to *wire.Reply, class wire.Class, ready time.Duration, limit, remaining int32) {
	if r.Says > 0 {
		limit = r.Says
	}
	shown := class
	if r.Shows != wire.OK {
		shown = r.Shows
	}
	to.RetryAfter, to.Code, to.Limit, to.Remaining = ready, r.Code, limit, remaining
	to.Status, to.Class, to.Shown, to.Body, to.Spelled, to.Marks = r.Status, class, shown, r.Body, r.Spelled, r.Marks
}

// phrase finishes a refusal of r made at now: it gives one that has no form of
// its own the provider's for what it shows, and one that has the provider's
// words; and it turns the time until r would be let in into the hint.
func (p *Provider) phrase(now time.Duration, r *wire.Request, h *Hint, to *wire.Reply) {
	if to.Status == 0 {
		f := &p.formsFor(r)[to.Shown]
		to.Status, to.Body, to.Code, to.Shown, to.Words, to.Marks = f.Status, f.Body, f.Code, f.Shown, f.Words, to.Marks|f.Marks
		if to.Spelled == wire.Plainly {
			to.Spelled = f.Spelled
		}
	} else {
		f := &p.formsFor(r)[to.Shown]
		said := wire.Said{Shown: f.Shown, Words: f.Words}
		if to.Body != f.Body {
			said = f.Foreign
		}
		to.Shown, to.Words = said.Shown, said.Words
		if to.Body == wire.CodeBody {
			to.Reset = 0 // the founding articles' body has no place for it
		}
	}
	if to.Reset != 0 && to.Marks&wire.ResetAsTime != 0 {
		to.Reset = p.dated(now, to.Reset, 1, false)
	}
	if h.Kind == NoHint || to.Spelled == wire.Unspeakable {
		to.RetryAfter = wire.NoHint
		return
	}
	p.hint(now, r, h, to)
}

// hint turns the time until r would be let in into the hint h.
func (p *Provider) hint(now time.Duration, r *wire.Request, h *Hint, to *wire.Reply) {
	wait, unit, down := h.wait(p.rnd, r, to.RetryAfter), max(to.Spelled.Unit(), h.unit()), h.Kind == RoundedDown
	switch {
	case wait == wire.NoHint:
		to.RetryAfter = wire.NoHint
	case to.Spelled.Dated():
		to.RetryAfter = p.dated(now, wait, unit, down)
	default:
		to.RetryAfter = rounded(wait, unit, down)
	}
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
