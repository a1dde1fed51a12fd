package mockprovider

import (
	"time"

	"herdlab/mockprovider/wire"
)

// Limit is the configuration of a gate.
type Limit interface {
	// Gate returns a gate in its initial state, for a space of callers.
	Gate(s Space) Gate
	// Validate reports an error if the configuration is invalid; the error also
	// says what to do.
	Validate() error
	// Bound returns how much of a load the limit lets through in the long run,
	// for all of the space together; the zero Bound if it does not bound that.
	Bound(load Load) Bound
	// Counters returns the number of counters that the gate keeps for a space. A
	// provider rejects limits that need more than MaxCounters.
	Counters(s Space) int
}

// Unpredictable is a limit or a disturbance that never knows when it would admit a
// request it has refused, such as a limit on requests in flight. A hint other than
// NoHint or Constant is of no use with it.
type Unpredictable interface {
	// Unpredictable has no effect; it marks the limit or disturbance.
	Unpredictable()
}

// Gate is one reason to refuse requests. Its methods are called in the order of
// time. Each request that Take admits ends in exactly one Undo or Release.
type Gate interface {
	// Take counts the request and reports true, or refuses it.
	Take(now time.Duration, r *wire.Request) bool
	// Refuse returns the verdict on the request that Take has just refused.
	Refuse(now time.Duration, r *wire.Request) Verdict
	// Form returns the form of the replies that refuse r; nil is the provider's own
	// form with an exact hint.
	Form(r *wire.Request) *Refusal
	// Undo follows Take at the same instant if a later gate, or capacity, has
	// refused r, so that r is not in flight. The gate decides whether what was
	// counted for r is given back or stays spent.
	Undo(now time.Duration, r *wire.Request)
	// Release reports the end of the work on r to the gate.
	Release(now time.Duration, r *wire.Request, e Ended)
}

// Verdict is a gate's refusal of one request. It is small enough to be returned
// in registers.
type Verdict struct {
	// Class is the reason.
	Class wire.Class
	Allowance
	// Admission is the time until the gate would admit the request.
	Admission Admission
	// Reset is the time until the limit is whole again or its window is over; 0
	// if that is not known.
	Reset time.Duration
}

// Allowance is how much a limit allows in all, and how much of that remains; both
// 0 if the limit has no such numbers.
type Allowance struct{ Limit, Remaining int32 }

// Admission is the time until a refused request would be admitted if no other
// came, as far as the limit knows it. The zero Admission is unknown.
type Admission struct{ plusOne time.Duration }

// AdmittedAfter returns the Admission of a request that would be admitted after
// d.
func AdmittedAfter(d time.Duration) Admission { return Admission{d + 1} }

// After returns the time until admission, and whether it is known.
func (a Admission) After() (d time.Duration, known bool) { return a.plusOne - 1, a != Admission{} }

// Scaler is a gate whose limit can be cut for a while.
type Scaler interface {
	// Scale sets the limit to that percentage of the configured one, 0 to 100,
	// from now on; 100 restores it. What has been counted stays counted. A
	// limit that is cut is at least 1, unless it is cut to 0 %.
	Scale(now time.Duration, percent int32)
}

// ClockSetter is a gate whose windows are aligned to the provider's clock.
type ClockSetter interface {
	// SetClock sets the clock: from now on it is ahead of the time of the run by
	// that much. A caller that is still in the same window by the new clock keeps
	// what was counted; otherwise another window has begun.
	SetClock(now, ahead time.Duration)
}

// StandingReporter is a gate that reports how a caller stands with it.
type StandingReporter interface {
	// Standing returns how the caller of r stands at now.
	Standing(now time.Duration, r *wire.Request) Standing
}

// Forgetter is a gate that can forget an account, so that its counters serve
// another one.
type Forgetter interface {
	// Forget resets the counters of an account. Requests that they have admitted
	// are not released to the gate any more.
	Forget(account uint32)
	// Forgets reports whether the counter of r belongs to one account, so that
	// Forget can reset it.
	Forgets(r *wire.Request) bool
}

// Standing is how a caller stands with a limit, in what the limit counts.
type Standing struct {
	Allowance
	Used int32
	// Reset is the time until the limit is whole again or its window is over, if
	// no other request comes; 0 if that is now or not known.
	Reset time.Duration
}

// Ended is how the work on a request ended.
type Ended struct {
	// Since is when the request was let in.
	Since time.Duration
	// Tokens is how many output tokens it has produced.
	Tokens uint32
	// Class is wire.OK if it was served, wire.Cancelled if its client hung up
	// and the provider noticed, wire.Overloaded if it was dropped from the queue,
	// and the class of the fault otherwise.
	Class wire.Class
}
