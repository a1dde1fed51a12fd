package strategies

import (
	"time"

	"herdlab/mockprovider/wire"
)

// EventKind is the kind of an event of a call.
type EventKind uint8

// The events of a call, in the order of a typical life.
const (
	Begin     EventKind = iota // the call arrived; no attempt has been sent
	Sent                       // an attempt was sent
	Head                       // the head of a streamed reply arrived
	Reply                      // an attempt ended with a reply
	Lost                       // an attempt ended without a reply: the connection was lost
	Expired                    // an attempt ended without a reply: its timeout passed
	Wake                       // the time of a Wait or a WakeAt is over
	Admitted                   // a pool has granted units to the call, or after a Join the call leads
	Joined                     // the call that it follows is settled, as Call.Joined describes
	Cancelled                  // the caller has cancelled the call
	Settled                    // an attempt was abandoned: by an Abandon, or because its call is settled
)

// Event is one event of a call. Reply, Lost, Expired and Settled are the terminal
// events of an attempt: every attempt gets exactly one of them, also after its
// call has settled.
type Event struct {
	Kind EventKind
	// Attempt is the number of the attempt, counted from 1 within its call, for
	// Sent, Head and the terminal events. Abandon takes the same number.
	Attempt uint32
	// Outcome is the outcome of the attempt, for Head and the terminal events, or of
	// the call that was followed, for Joined. It is nil for other events, and valid
	// during Next only.
	Outcome *wire.Outcome
	// SentAt is when the attempt was sent, as time since the run began, for Head and
	// the terminal events.
	SentAt time.Duration
}

// Terminal reports whether e ends an attempt.
func (e Event) Terminal() bool {
	switch e.Kind {
	case Reply, Lost, Expired, Settled:
		return true
	}
	return false
}

// DecisionKind is the kind of a decision.
type DecisionKind uint8

// The decisions. Idle is valid only while another event will follow: the call has an
// attempt in flight, a timer or a place in a queue.
const (
	Idle    DecisionKind = iota // do nothing
	Send                        // send an attempt to the call's Target; After > 0 is its timeout
	Wait                        // wait for After ≥ 0; Wake follows
	Acquire                     // wait for the units of Take; Admitted follows
	Join                        // join the shared flight of key Take.N in table Take.Pool; Joined follows, or Admitted if the call leads
	Answer                      // answer the caller without an attempt (cache, default)
	Abandon                     // abandon attempt Take.N; its Settled follows
	Stop                        // settle the call as End describes
)

// Reason is why a call is settled.
type Reason uint8

// The reasons.
const (
	NoReason         Reason = iota
	Succeeded               // an attempt ended with a success, as the client reads it
	Failed                  // an attempt failed; a loop outside may try again
	TriesExhausted          // the last permitted attempt failed
	DeadlinePassed          // there is no time left for another attempt
	BreakerOpen             // a breaker refused the attempt
	BudgetSpent             // a retry budget is empty
	LimiterRefused          // a client-side limit refused instead of waiting
	CallerCancelled         // the caller cancelled
	ServedFromMemory        // answered without an attempt
	Shed                    // refused in favour of more urgent calls
	NothingLeft             // no model, region or key is left
	NotGoodEnough           // an answer arrived, but failed the client's rule for quality
	HintTooLong             // the provider asks for a longer wait than the client accepts
	NumReasons       = iota // number of reasons
)

var reasonNames = [NumReasons]string{
	"none", "succeeded", "failed", "tries_exhausted", "deadline_passed", "breaker_open",
	"budget_spent", "limiter_refused", "withdrawn", "served_from_memory", "shed", "nothing_left", "not_good_enough",
	"hint_too_long",
}

// String returns the reason's name as result files spell it.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "unknown"
}

// Hint returns the hint of the event's outcome, or wire.NoHint if there is none.
func (e Event) Hint() time.Duration {
	if e.Outcome == nil {
		return wire.NoHint
	}
	return e.Outcome.RetryAfter
}

// Decision is what a client does next. The zero value is Idle.
//
// It has at most four fields on each level, because the compiler keeps such a value
// in registers through the whole stack. A flat struct of the same content passes
// through memory at each layer and costs five times as much.
type Decision struct {
	Kind DecisionKind
	// End describes how a Stop or an Answer settles the call.
	End End
	// Take is the units to Acquire, the attempt to Abandon or the flight to Join.
	Take Take
	// After is the timeout of a Send, where 0 means no timeout, or the length of a
	// Wait.
	After time.Duration
}

// End describes how a call is settled.
type End struct {
	Reason Reason
	// Class is the class of the outcome that settled it.
	Class wire.Class
	// Degraded marks an answer from a lesser model or from memory.
	Degraded bool
}

// Take is N units of a pool for Acquire, attempt number N for Abandon, or key N
// of the flights numbered Pool for Join.
type Take struct {
	Pool PoolID
	N    uint32
}

// Settles reports whether d ends the call.
func (d Decision) Settles() bool { return d.Kind == Stop || d.Kind == Answer }

// Strategy decides what a client does next. Next is called with the time since the
// run began, the call and its event. It must depend on nothing else, and must not
// use c after it returns.
type Strategy interface {
	Next(now time.Duration, c *Call, e Event) Decision
}

// sender is the innermost strategy of every stack: it sends one attempt and
// reports how it ended.
type sender struct{}

// Next implements Strategy.
func (*sender) Next(_ time.Duration, _ *Call, e Event) Decision {
	switch e.Kind {
	case Begin:
		return Decision{Kind: Send}
	case Reply, Lost, Expired, Settled:
		if e.Outcome.OK() {
			return StopWith(Succeeded, wire.OK)
		}
		return StopWith(Failed, e.Outcome.Class)
	case Cancelled:
		return StopCancelled()
	}
	return Decision{}
}

// StopWith returns the decision that settles a call for the given reason, with the
// class of the outcome behind it.
func StopWith(r Reason, c wire.Class) Decision {
	return Decision{Kind: Stop, End: End{Reason: r, Class: c}}
}

// cancelledOutcome is the outcome of an attempt that its client has abandoned.
var cancelledOutcome = wire.Outcome{Class: wire.Cancelled, RetryAfter: wire.NoHint}

// StopCancelled returns the decision that settles a call that its caller has
// cancelled.
func StopCancelled() Decision { return StopWith(CallerCancelled, wire.Cancelled) }

// Unwind delivers a Cancelled event to the layers inside, so that they return what
// they hold. It returns d, the decision of the layer that ends the call.
func Unwind(inner Strategy, now time.Duration, c *Call, d Decision) Decision {
	inner.Next(now, c, Event{Kind: Cancelled})
	return d
}
