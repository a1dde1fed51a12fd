package mockprovider

import (
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

// The kinds of hints. Exact and RoundedUp need a gate that knows when it will
// admit again; a gate that does not gives no hint.
const (
	NoHint    HintKind = iota // nothing is said
	Constant                  // always the same wait
	Exact                     // the time until the gate admits again
	RoundedUp                 // the same in whole seconds, rounded up
)

// Refusal is the form in which one reason to refuse is put on the wire.
type Refusal struct {
	// Status is the HTTP status; Body and Code say whether the body carries a
	// business code, and which.
	Status uint16
	Body   wire.Body
	Code   int32
	Hint   Hint
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

// reply writes the refusal to the reply. ready is how long until the gate admits
// again, wire.NoHint if it cannot say.
func (r *Refusal) reply(to *wire.Reply, class wire.Class, ready time.Duration, limit, remaining int32) {
	hint := wire.NoHint
	switch r.Hint.Kind {
	case Constant:
		hint = r.Hint.Value
	case Exact:
		hint = ready
	case RoundedUp:
		if ready >= 0 {
			hint = (ready + time.Second - 1) / time.Second * time.Second
		}
	}
	to.RetryAfter, to.Code, to.Limit, to.Remaining = hint, r.Code, limit, remaining
	to.Status, to.Class, to.Body = r.Status, class, r.Body
}
