package strategies

import (
	"time"

	"herdlab/mockprovider/wire"
)

// EventKind is what happened to a call.
type EventKind uint8

// The events of a call, in the order of a typical life.
const (
	Begin     EventKind = iota // the call exists; nothing has been done yet
	Sent                       // an attempt is on its way
	Head                       // the head of a streamed reply arrived
	Reply                      // an attempt ended with a reply
	Lost                       // an attempt ended without a reply: the connection broke
	Expired                    // an attempt ended without a reply: its timeout passed
	Wake                       // the time of a Wait has come
	Admitted                   // a pool has admitted the call, or it goes first where it was to Join
	Joined                     // the call it has joined is over: Call.Joined says how
	Cancelled                  // the caller has withdrawn the call
	Settled                    // an attempt was given up: by an Abandon, or because its call is over
)

// Event is what happened. Reply, Lost, Expired and Settled are the terminal
// events of an attempt: every attempt gets exactly one of them, also after its
// call has settled.
type Event struct {
	Kind EventKind
	// Attempt is the number of the attempt concerned, counted from 1 within its
	// call, for Sent, Head and the terminal events; it is what Abandon takes.
	Attempt uint32
	// Outcome is what the client made of the attempt: never nil for Head and
	// the terminal events; for Joined it is what the other call got. It is nil
	// otherwise, and valid during Next only.
	Outcome *wire.Outcome
	// SentAt is when the attempt was sent, for Head and the terminal events: how
	// long it took is the difference to now.
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

// DecisionKind is what a client is to do.
type DecisionKind uint8

// The decisions. Idle is right only while something will still happen to the
// call: an attempt in flight, a wait, a place in a pool's line.
const (
	Idle    DecisionKind = iota // nothing now
	Send                        // send an attempt to the call's Target; After > 0 is its timeout
	Wait                        // come back with Wake after After ≥ 0
	Acquire                     // stand in line for Take; come back with Admitted
	Join                        // follow the equal call under way, Take.N in flight table Take.Pool; come back with Joined, or with Admitted to lead
	Answer                      // answer the caller without an attempt (cache, default)
	Abandon                     // hang up on attempt Take.N; come back with its Settled
	Stop                        // settle the call: End says how
)

// Reason says why a call is settled, or why a layer stands in its way.
type Reason uint8

// The reasons.
const (
	NoReason         Reason = iota
	Succeeded               // an attempt brought what the client takes for an answer
	Failed                  // an attempt failed; a loop outside may try again
	TriesExhausted          // the last permitted attempt failed
	DeadlinePassed          // there is no time left for another attempt
	BreakerOpen             // a breaker refused to try
	BudgetSpent             // a retry budget is empty
	LimiterRefused          // a client-side limit refused instead of waiting
	CallerCancelled         // the caller cancelled
	ServedFromMemory        // answered without an attempt
	Shed                    // given up for more urgent calls
	NothingLeft             // no model, region or key is left to try
	NotGoodEnough           // an answer came, but failed the client's rule for quality
	HintTooLong             // the provider asks for a longer wait than the client accepts
	NumReasons       = iota // how many reasons there are
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

// Hint returns the wait that the reply of the attempt that e concerns asks for;
// wire.NoHint if there is none.
func (e Event) Hint() time.Duration {
	if e.Outcome == nil {
		return wire.NoHint
	}
	return e.Outcome.RetryAfter
}

// Decision is what to do. The zero value is Idle.
//
// It has four fields at most on each level because the compiler keeps such a
// value in registers, all the way through a stack; a flat struct of the same
// content goes through memory at each layer and costs five times as much.
type Decision struct {
	Kind DecisionKind
	// End is how a Stop or an Answer settles the call.
	End End
	// Take is what to Acquire, which attempt to Abandon, or which call to Join.
	Take Take
	// After is a Send's timeout (0: none) or a Wait's length.
	After time.Duration
}

// End is how a call is settled.
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

// Strategy decides. Next is called with the time since the run began, the call
// and what happened to it; it must use nothing else, and nothing of c after it
// returns.
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

// cancelled is the outcome of an attempt that its client has given up.
var cancelledOutcome = wire.Outcome{Class: wire.Cancelled, RetryAfter: wire.NoHint}

// StopCancelled returns the decision that settles a call that its caller has
// cancelled.
func StopCancelled() Decision { return StopWith(CallerCancelled, wire.Cancelled) }

// Unwind tells the layers inside, by a Cancelled event, that the call ends here, so
// that they give back what they hold. It returns d, the decision of the layer that
// ends the call.
func Unwind(inner Strategy, now time.Duration, c *Call, d Decision) Decision {
	inner.Next(now, c, Event{Kind: Cancelled})
	return d
}
