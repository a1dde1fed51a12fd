package wire

import "time"

// Target says where an attempt is sent: indices into the scenario's lists of
// models, regions and keys. The zero Target is the first of each.
type Target struct {
	Model, Region, Key uint8
}

// Demand is what a call asks for. It belongs to the call and is the same for
// all its attempts.
type Demand struct {
	// InputTokens and OutputTokens are the prompt's length and the length the
	// answer will have.
	InputTokens, OutputTokens uint32
}

// Request is one attempt as the provider sees it.
type Request struct {
	// Call identifies the caller's wish across attempts, for draws that
	// belong to it; Attempt counts its attempts from 1.
	Call    uint64
	Attempt uint32
	// Account is who is charged.
	Account uint32
	Target  Target
	Demand  Demand
	// Stream asks for the reply in pieces: a head, then a terminal.
	Stream bool
}

// NoHint in Reply.RetryAfter or Outcome.RetryAfter means that the reply does
// not say how long to wait.
const NoHint time.Duration = -1

// Body is the shape of a reply's body.
type Body uint8

// The shapes.
const (
	Completion Body = iota // an ordinary answer
	ErrorBody              // an error object under a matching HTTP status
	CodeBody               // HTTP 200 around a business code: {"code":14003,"retry_after":3,…}
)

// Code14003 is the business code of the founding articles' provider for "too
// many requests", sent with HTTP 200.
const Code14003 = 14003

// Reply is what comes over the wire, compactly.
type Reply struct {
	// RetryAfter is the wait that the provider asks for, or NoHint.
	RetryAfter time.Duration
	// RetryAt is when it asks the client to come back, as the provider's clock
	// shows it, where the hint is a date or a reset time; 0 if it is not.
	RetryAt time.Duration
	// Code is the business code of a CodeBody; 0 otherwise.
	Code int32
	// Limit and Remaining describe the limit that refused; both 0 if none did.
	Limit, Remaining int32
	Status           uint16 // HTTP status
	Class            Class  // the truth
	Body             Body
}

// Outcome is what a client makes of a reply, or of its absence.
type Outcome struct {
	// RetryAfter is how long the provider asked the client to wait, as far as
	// this client can tell; NoHint if it cannot.
	RetryAfter       time.Duration
	Code             int32
	Limit, Remaining int32
	Status           uint16 // 0 if no reply came
	// Class is the client's belief. It may be wrong: a client that reads only
	// the status takes HTTP 200 around a 14003 for OK.
	Class Class
}

// OK reports whether the client takes the attempt for a success.
func (o *Outcome) OK() bool { return o.Class == OK }
