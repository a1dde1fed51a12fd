package mockprovider

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// Limit is the configuration of a gate.
type Limit interface {
	// Gate returns a gate in its initial state, for a space of callers.
	Gate(s Space) Gate
	// Validate says what is wrong with the configuration, and what to do.
	Validate() error
	// Bound returns how much of a load the limit lets through in the long run,
	// for all of the space together; the zero Bound if it does not bound that.
	Bound(load Load) Bound
}

// Gate is one reason to refuse. It is asked in time order. Each request that
// Take lets in ends in exactly one Undo or Release.
type Gate interface {
	// Take counts the request and reports true, or refuses it.
	Take(now time.Duration, r *wire.Request) bool
	// Refuse writes the reply to the request that Take has just refused.
	Refuse(now time.Duration, r *wire.Request, to *wire.Reply)
	// Undo follows Take at the same instant if a later gate, or capacity, has
	// refused r, so that r is not in flight. What was counted for it is given
	// back, as if r had never come, or stays spent: that is the gate's to know.
	Undo(now time.Duration, r *wire.Request)
	// Release is told that the work on r is over, and how it ended.
	Release(now time.Duration, r *wire.Request, e Ended)
}

// Scaler is a gate whose limit can be cut for a while.
type Scaler interface {
	// Scale sets the limit to that percentage of the configured one, 0 to 100,
	// from now on; 100 restores it. What has been counted stays counted. A
	// limit that is cut is at least 1, unless it is cut to nothing.
	Scale(now time.Duration, percent int32)
}

// Teller is a gate that can say how a caller stands with it.
type Teller interface {
	// Tell returns how the caller of r stands at now.
	Tell(now time.Duration, r *wire.Request) Standing
}

// Forgetter is a gate that can forget a caller, so that his counters serve
// another.
type Forgetter interface {
	// Forget makes the counters of an account as they were in the beginning. The
	// gate does not hear any more of what they have let in.
	Forget(account uint32)
	// Forgets reports whether the counter of r is one of an account, which
	// Forget can make anew.
	Forgets(r *wire.Request) bool
}

// Standing is how a caller stands with a limit, in what the limit counts.
type Standing struct {
	Limit, Used, Remaining int32
	// Reset is how long until the limit is whole again or its window is over,
	// if nobody comes; 0 if that is now or not known.
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

// validateCount says what is wrong with a limit of that name that counts so
// many in a length of time.
func validateCount(name string, limit int32, length time.Duration, terms Terms) error {
	switch {
	case limit < 1:
		return fmt.Errorf("%s: the limit must be at least 1", name)
	case length <= 0:
		return fmt.Errorf("%s: the length must be positive", name)
	}
	if err := terms.validate(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
