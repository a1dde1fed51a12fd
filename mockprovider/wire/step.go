package wire

import "time"

// InputKind is what happens to a provider in one step.
type InputKind uint8

// The inputs.
const (
	Arrive  InputKind = iota // a request reaches the provider
	Done                     // the time that Started gave its job is over
	Abandon                  // the client has hung up on a request
	Tick                     // the time that NextTick asked for has come
)

// Input is one step of a provider.
type Input struct {
	Kind InputKind
	// Faulted is set by the provider when it takes an Arrive: the part, in per cent,
	// for which faults are to blame if the request found no room, which is to be
	// refused or queued. It is 100 where a fault itself ends the request or has left
	// nothing of what the request needed, and less where a fault has left a part.
	Faulted uint8
	// Ticket identifies the attempt for the driver, for Arrive and Abandon; the
	// provider returns it in effects. It is small, below the largest number of
	// attempts that were ever under way together, so that a provider may keep
	// what it records of tickets in a slice. It is not given to another attempt
	// before it has ended.
	//
	// Abandon comes at most once, and not after the end of its ticket. A ticket
	// ends as any other when its client has hung up: with Dropped as soon as the
	// provider notices, and with its reply if it does not.
	Ticket uint32
	// Job is the provider's own number of the work, as Started gave it, for
	// Done. Done comes whatever happens: also if the client has hung up, and
	// also if the work was cut short, by a fault or because that was noticed.
	Job uint32
	// Request is what arrives, for Arrive.
	Request Request
}

// EffectKind is what a provider does in answer to an input.
type EffectKind uint8

// The effects. Every ticket that arrives gets exactly one of Replied, Dropped
// and LostConnection in the end. A Head that would leave later than that does not leave.
const (
	Replied        EffectKind = iota // the reply to a ticket leaves the provider
	Head                             // the first token of a streamed reply leaves; its end follows
	Started                          // a job occupies a slot until its Done
	Dropped                          // nothing will ever be answered to this ticket
	LostConnection                   // the connection of this ticket is lost, and its client notices
)

// Effect is one thing a provider does.
type Effect struct {
	Kind   EffectKind
	Ticket uint32
	// Job is the number of the work, for Started and for the end of its ticket.
	// It is small: below the largest number of requests that were ever queued, in
	// service or, cut short, on the way to their Done together, so that a driver
	// may keep what it records of jobs in a slice. It is not given to other work
	// before its Done.
	Job uint32
	// Withheld is, for Started, how many of the last tokens of the job are never
	// sent.
	Withheld uint32
	// After is how long from now a reply leaves (a refusal takes time too), or
	// how long from now a started job is done.
	After time.Duration
	// Slot is how long the work held a slot, and Cost what is charged for it in
	// nano-dollars, for Replied, Dropped and LostConnection.
	Slot time.Duration
	Cost int64
	// Reply is what is sent, for Replied and Head. Its Tokens are, for Started, how
	// many tokens will be produced, the first with the head and the others evenly
	// until the job is done; for Dropped and LostConnection, how many had been sent.
	Reply Reply
}
