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
	// and Code are whether the body carries a business code, and which.
	Status uint16
	Body   wire.Body
	Code   int32
	Hint   Hint
	// Spelling is how the hint is written, where Status is not 0 or, if it is
	// not wire.ExactSeconds, in place of the provider's spelling.
	Spelling wire.Spelling
	// ShownAs is the class that the form reads as, where it has one text for
	// several; wire.OK, which no refusal shows, for the true one.
	ShownAs wire.Class
	// StatedLimit is the limit that the reply states in place of the one that
	// refused; 0 states that one. Some providers have one limit in all their
	// replies, whichever of several was hit.
	StatedLimit int32
	// Marks is an x-should-retry header beside it, wire.ShouldRetry or
	// wire.ShouldNotRetry; 0 sends none.
	Marks wire.Marks
}

// Forms of no provider in particular.
var (
	// As14003 is HTTP 200 around {"code":14003,…}. Its text is "too many requests",
	// whatever the reason is.
	As14003 = Refusal{Status: 200, Body: wire.CodeBody, Code: wire.Code14003, ShownAs: wire.Rate, Spelling: wire.BodySeconds}
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

// WithSpelling returns r with hints written that way.
func (r Refusal) WithSpelling(s wire.Spelling) Refusal {
	r.Spelling = s
	return r
}

// Validate reports an error if the form is invalid; the error also says what to do.
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
	case r.ShownAs >= wire.NumClasses:
		return fmt.Errorf("refusal: there is no class %d to show", r.ShownAs)
	case r.Spelling >= wire.NumSpellings:
		return fmt.Errorf("refusal: there is no spelling %d", r.Spelling)
	case r.StatedLimit < 0:
		return errors.New("refusal: the stated limit must not be negative; 0 states the one that refused")
	case r.Marks != 0 && r.Marks != wire.ShouldRetry && r.Marks != wire.ShouldNotRetry:
		return errors.New("refusal: its marks are wire.ShouldRetry, wire.ShouldNotRetry or none")
	}
	if err := r.Hint.Validate(); err != nil {
		return fmt.Errorf("refusal: %w", err)
	}
	return nil
}

// usual is the refusal without a form or a hint of its own, exact one with an
// exact hint.
var (
	usual Refusal
	exact = Refusal{Hint: Hint{Kind: Exact}}
)

// write writes the refusal of r, made at now, into an empty reply. A form of
// nil is the provider's with an exact hint. A refusal
// without a form of its own gets the provider's form for the class shown; the
// provider also chooses the text.
func (p *Provider) write(now time.Duration, r *wire.Request, v Verdict, own *Refusal, to *wire.Reply) {
	if own == nil {
		own = &exact
	}
	shown := v.Class
	if own.ShownAs != wire.OK {
		shown = own.ShownAs
	}
	to.Class, to.Limit, to.Remaining, to.Reset = v.Class, v.Limit, v.Remaining, v.Reset
	if own.StatedLimit > 0 {
		to.Limit = own.StatedLimit
	}
	form := &p.formsFor(r)[shown]
	if to.Hint.Spelling, to.Marks = own.Spelling, own.Marks; own.Status == 0 {
		to.Status, to.Body, to.Code, to.Shown, to.Words = form.Status, form.Body, form.Code, form.Shown, form.Words
		if to.Marks |= form.Marks; to.Hint.Spelling == wire.ExactSeconds {
			to.Hint.Spelling = form.Spelling
		}
	} else {
		to.Status, to.Body, to.Code, to.Shown, to.Words = own.Status, own.Body, own.Code, form.Shown, form.Words
		if own.Body != form.Body {
			to.Shown, to.Words = form.Foreign.Shown, form.Foreign.Words
		}
		if own.Body == wire.CodeBody {
			to.Reset = 0 // the body of the reference experiment has no field for it
		}
	}
	if to.Reset != 0 && to.Marks&wire.ResetAsTime != 0 {
		to.Reset = p.dated(now, to.Reset, 1, false)
	}
	if to.Hint.Value = wire.NoHint; own.Hint.Kind != NoHint && to.Hint.Spelling != wire.NoPlaceForHint {
		to.Hint.Value = p.hint(now, r, &own.Hint, v.Admission, to.Hint.Spelling)
	}
}
