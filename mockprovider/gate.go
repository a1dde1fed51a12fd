package mockprovider

import (
	"time"

	"herdlab/mockprovider/wire"
)

// Limit is the configuration of a gate.
type Limit interface {
	// Gate returns a gate in its initial state, for so many accounts.
	Gate(accounts int) Gate
	// Validate says what is wrong with the configuration, and what to do.
	Validate() error
	// Rate returns how many requests per second the limit lets through in the
	// long run, 0 if it does not bound that.
	Rate() float64
}

// Gate is one reason to refuse. It is asked in time order.
type Gate interface {
	// Take counts the request and reports true, or refuses it.
	Take(now time.Duration, r *wire.Request) bool
	// Refuse writes the reply to the request that Take has just refused.
	Refuse(now time.Duration, r *wire.Request, to *wire.Reply)
	// Undo takes back the last Take of r: a later gate has refused it.
	Undo(now time.Duration, r *wire.Request)
	// Release is told that the work on r is over.
	Release(now time.Duration, r *wire.Request)
}

// Counted says who is counted by a limit.
type Counted uint8

// Who is counted.
const (
	Everyone Counted = iota // all requests together
	Account                 // each account by itself
)

func (c Counted) keys(accounts int) int {
	if c == Account {
		return max(accounts, 1)
	}
	return 1
}

func (c Counted) key(r *wire.Request) uint32 {
	if c == Account {
		return r.Account
	}
	return 0
}
