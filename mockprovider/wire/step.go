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
	// Ticket identifies the attempt for the driver, for Arrive and Abandon;
	// the provider returns it in effects and never looks into it.
	Ticket uint32
	// Job is the provider's own number of the work, as Started gave it, for
	// Done. Done comes whatever happens: also if the client has hung up, and
	// also after a fault.
	Job uint32
	// Request is what arrives, for Arrive.
	Request Request
}

// EffectKind is what a provider does in answer to an input.
type EffectKind uint8

// The effects. Every ticket that arrives gets exactly one of Replied, Dropped
// and Broke in the end.
const (
	Replied EffectKind = iota // the reply to a ticket leaves the provider
	Head                      // the head of a streamed reply leaves; Replied follows
	Started                   // a job occupies a slot until its Done
	Dropped                   // nothing will ever be answered to this ticket
	Broke                     // the connection of this ticket is lost, and its client notices
)

// Effect is one thing a provider does.
type Effect struct {
	Kind   EffectKind
	Ticket uint32
	// Job is the number of the work, for Started and for the end of its ticket
	// that its Done brings about. It is small: below the largest number of
	// requests that were ever queued and in service together, so that a driver
	// may keep what it knows of jobs in a slice. It is not given to other work
	// before its Done.
	Job uint32
	// After is how long from now a reply leaves (a refusal takes time too), or
	// how long from now a started job is done.
	After time.Duration
	// Slot is how long the work held a slot, for Replied and Dropped.
	Slot  time.Duration
	Reply Reply
}
