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
	NoHint    HintKind = iota // nothing is said
	Constant                  // always the same wait
	Exact                     // the time until the gate admits again
	RoundedUp                 // the same in whole seconds, rounded up
	AtTime                    // when the gate admits again, on the provider's clock
)

// Refusal is the form in which one reason to refuse is put on the wire. The
// zero value is the form that is usual for the reason, without a hint: 401 for
// a bad key, 429 for a limit, 503 for want of capacity and outages.
type Refusal struct {
	// Status is the HTTP status, 200 to 599, or 0 for the usual form; Body and
	// Code say whether the body carries a business code, and which.
	Status uint16
	Body   wire.Body
	Code   int32
	Hint   Hint
	// Says is the limit that the reply states in place of the one that
	// refused; 0 states that one. Some providers have one limit in all their
	// replies, whichever of several was hit.
	Says int32
}

// The forms of the first dialects.
var (
	// As14003 is HTTP 200 around {"code":14003,…}.
	As14003 = Refusal{Status: 200, Body: wire.CodeBody, Code: wire.Code14003}
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

// or returns r, or, if r has no form, the usual one with all else that r says.
func (r Refusal) or(usual Refusal) Refusal {
	if r.Status == 0 {
		r.Status, r.Body, r.Code = usual.Status, usual.Body, usual.Code
	}
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
	case r.Hint.Kind > AtTime:
		return fmt.Errorf("refusal: there is no kind %d of hint", r.Hint.Kind)
	case r.Hint.Value < 0:
		return errors.New("refusal: a hint must not be negative")
	case r.Says < 0:
		return errors.New("refusal: the limit that it says must not be negative; 0 says the one that refused")
	}
	return nil
}

// reply writes the refusal, made at now, to the reply. ready is how long until the gate admits
// again, wire.NoHint if it cannot say.
func (r *Refusal) reply(now time.Duration, to *wire.Reply, class wire.Class, ready time.Duration, limit, remaining int32) {
	hint, at := wire.NoHint, time.Duration(0)
	switch r.Hint.Kind {
	case Constant:
		hint = r.Hint.Value
	case Exact:
		hint = ready
	case RoundedUp:
		if part := ready % time.Second; ready > 0 && part > 0 {
			ready = later(ready, time.Second-part)
		}
		hint = ready
	case AtTime:
		if ready >= 0 {
			at = later(now, ready)
		}
	}
	if r.Says > 0 {
		limit = r.Says
	}
	to.RetryAfter, to.RetryAt, to.Code, to.Limit, to.Remaining = hint, at, r.Code, limit, remaining
	to.Status, to.Class, to.Body = r.Status, class, r.Body
}
