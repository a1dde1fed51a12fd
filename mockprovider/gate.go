package mockprovider

import (
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
	// Capacity returns how many requests of the given mean service time the
	// limit lets through per second in the long run, for all accounts
	// together; 0 if it does not bound that.
	Capacity(accounts int, mean time.Duration) float64
}

// Gate is one reason to refuse. It is asked in time order.
type Gate interface {
	// Take counts the request and reports true, or refuses it.
	Take(now time.Duration, r *wire.Request) bool
	// Refuse writes the reply to the request that Take has just refused.
	Refuse(now time.Duration, r *wire.Request, to *wire.Reply)
	// Undo takes back the Take of r at the same instant, as if r had never
	// come: a later gate, or capacity, has refused it.
	Undo(now time.Duration, r *wire.Request)
	// Release is told that the work on r, which Take has let in, is over.
	Release(now time.Duration, r *wire.Request)
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
