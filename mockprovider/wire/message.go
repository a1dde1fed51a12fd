package wire

import "time"

// Target is where an attempt is sent: indices into the scenario's lists of
// models, regions and keys. The zero Target is the first of each.
type Target struct {
	Model  uint8 `names:"models" without:"the first" about:"The model."`
	Region uint8 `names:"regions" without:"the first" about:"The region."`
	Key    uint8 `unit:"key number" default:"0" about:"The API key."`
}

// Demand is what a call asks for. It belongs to the call; a layer that shrinks
// or merges requests changes its own call's.
type Demand struct {
	// InputTokens and OutputTokens are the prompt's length and the length the
	// answer will have if nothing caps it.
	InputTokens, OutputTokens uint32
	// MaxTokens is the cap on the output that the request states (max_tokens),
	// which is what providers reserve; 0 states none.
	MaxTokens uint32
	// Prompt identifies the question: equal numbers are equal questions, so that
	// caches can answer and calls can share a flight. 0 is like no other.
	Prompt uint32
	// Priority is the urgency that the caller states, 0 the most urgent.
	Priority uint8
}

// Output is how many output tokens the answer has: what it would have, or the
// cap if that is less.
func (d *Demand) Output() uint32 {
	if d.MaxTokens > 0 {
		return min(d.OutputTokens, d.MaxTokens)
	}
	return d.OutputTokens
}

// Request is one attempt as the provider sees it.
type Request struct {
	// Call identifies the caller's wish across attempts, for draws that
	// belong to it; Attempt counts its attempts from 1.
	Call    uint64
	Attempt uint32
	// Account is charged; Address is where the request comes from.
	Account, Address uint32
	Demand           Demand
	Target           Target
	// Stream asks for the reply in pieces: a head, then a terminal.
	Stream bool
	// Dialect is which of a provider's dialects the request is in, for a server
	// that has several; 0 is the provider's own.
	Dialect uint8
}

// Body is what a reply consists of, or what has become of it.
type Body uint8

// The bodies. All but the first three are what faults make of an answer.
const (
	Completion    Body   = iota // an ordinary answer, whole
	ErrorBody                   // an error object under a matching HTTP status
	CodeBody                    // a business code, under HTTP 200 as a rule: {"code":14003,"retry_after":3,…}
	StreamError                 // a 200, some of the answer, then an error event in the stream
	SilentEnd                   // a 200, some of the answer, then a clean end without the finish marker
	TruncatedBody               // a 200, some of the answer, then the connection breaks
	Garbage                     // a 200 around text that is not JSON
	WrongType                   // a 200 around an HTML page
	Doubled                     // the answer twice in one body
	NumBodies     = iota        // how many there are
)

// Begun reports whether an answer has begun before b went wrong: the client
// has a status 200 and perhaps tokens, and a retry would pay for them twice.
func (b Body) Begun() bool { // they stand in a row
	return b >= StreamError && b <= TruncatedBody
}

// Code14003 is the business code of the reference experiments' provider for "too
// many requests", sent with HTTP 200.
const Code14003 = 14003

// Marks are what else a reply states, as bits.
type Marks uint8

// The marks.
const (
	ShouldRetry    Marks = 1 << iota // x-should-retry: true
	ShouldNotRetry                   // x-should-retry: false
	ResetAsTime                      // Reply.Reset is a time on the provider's clock
	DegradedReply                    // the answer comes from a lesser model than asked for
	HidesLimit                       // the bytes have no place for Limit and Remaining
	HidesReset                       // the bytes have no place for Reset
)

// formal are the marks that say how to read a reply; the others are facts.
const formal = ResetAsTime | HidesLimit | HidesReset

// Reply is what comes over the wire, compactly.
type Reply struct {
	// Hint states when to come back.
	Hint Hint
	// Reset is how long until the limit that Limit and Remaining describe is
	// whole again or its window is over; 0 if the reply does not state it. With the
	// mark ResetAsTime it is that time on the provider's clock.
	Reset time.Duration
	// Code is the business code of a CodeBody; 0 otherwise.
	Code int32
	// Limit and Remaining describe the limit that refused or, on success, the
	// one that the provider describes; both 0 if there is none.
	Limit, Remaining int32
	// Tokens is how many output tokens were delivered.
	Tokens uint32
	Status uint16 // HTTP status
	Class  Class  // the truth
	Shown  Class  // what the whole reply reads as
	Body   Body
	Words  Words // what its text mentions
	Marks  Marks
}

// Outcome is what a client makes of a reply, or of its absence.
type Outcome struct {
	// RetryAfter is how long the provider asked the client to wait, as far as
	// this client can tell; NoHint if it cannot.
	RetryAfter time.Duration
	// Reset is how long until the limit described is whole again; 0 if the
	// client cannot tell.
	Reset            time.Duration
	Code             int32
	Limit, Remaining int32
	// Tokens is how many output tokens the client has.
	Tokens uint32
	Status uint16 // 0 if no reply came
	// Class is the client's belief. It may be wrong: a client that reads only
	// the status takes HTTP 200 around a 14003 for OK.
	Class Class
	// Begun is true if an answer had begun before it went wrong.
	Begun bool
	Marks Marks
}

// OK reports whether the client takes the attempt for a success.
func (o *Outcome) OK() bool { return o.Class == OK }
