package mockprovider

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// Limit is the configuration of a gate.
type Limit interface {
	// Gate returns a gate in its initial state, for so many accounts; 0 means
	// that they are not told apart.
	Gate(accounts int) Gate
	// Validate says what is wrong with the configuration, and what to do.
	Validate() error
	// Bound returns how much of a load the limit lets through in the long run,
	// for all accounts together; the zero Bound if it does not bound that.
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
	// back, as if r had never come; with keep, it stays spent.
	Undo(now time.Duration, r *wire.Request, keep bool)
	// Release is told that the work on r is over, and how it ended: wire.OK
	// if it was served.
	Release(now time.Duration, r *wire.Request, ended wire.Class)
}

// Counted says who is counted by a limit.
type Counted uint8

// Who is counted.
const (
	Everyone Counted = iota // all requests together
	Account                 // each account by itself
)

// keys returns how many counters a limit needs.
func (c Counted) keys(accounts int) int {
	if c == Account {
		return max(accounts, 1)
	}
	return 1
}

// validate says what is wrong with c.
func (c Counted) validate() error {
	if c > Account {
		return fmt.Errorf("there is no way %d of counting; use Everyone or Account", c)
	}
	return nil
}

// keying finds a request's counter.
type keying struct{ apart bool }

func (c Counted) keying(accounts int) keying { return keying{c == Account && accounts > 0} }

func (k keying) of(r *wire.Request) uint32 {
	if k.apart {
		return r.Account
	}
	return 0
}

// validateCount says what is wrong with a limit of that name that counts so
// many in a length of time.
func validateCount(name string, limit int32, length time.Duration, per Counted, refusal Refusal) error {
	switch {
	case limit < 1:
		return fmt.Errorf("%s: the limit must be at least 1", name)
	case length <= 0:
		return fmt.Errorf("%s: the length must be positive", name)
	}
	if err := errors.Join(per.validate(), refusal.Validate()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
