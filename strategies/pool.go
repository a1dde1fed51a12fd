package strategies

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Never, as the time when a pool is ready, means: not before a Put. If no call holds
// units there is no Put, and the call at the head of the queue waits, with all calls
// behind it, until it is cancelled.
const Never time.Duration = math.MaxInt64

// Pool grants units that calls share and wait for: tokens, permits, a window. It is
// an immutable program; m is its memory, of the scope in which it was reserved. The
// driver keeps one first-come-first-served queue for each pool, and calls TryTake
// for the call at its head only. Units are taken at admission: a call that leaves
// the queue has taken none.
type Pool interface {
	// Words returns the number of words of memory that the pool needs.
	Words() int
	// TryTake takes n units if they are available at now. If not, it returns the
	// time readyAt > now at which they may be, or Never.
	TryTake(now time.Duration, m []int64, n uint32) (ok bool, readyAt time.Duration)
	// Put returns n units to the pool.
	Put(now time.Duration, m []int64, n uint32)
}

// PoolID is the index of a pool among those of its program.
type PoolID uint16

// PoolSpec is a pool of a stack, with the location of its memory.
type PoolSpec struct {
	Pool  Pool
	Scope Scope
	At    uint32 // its first word in the memory of that scope
}

// Pool reserves memory for p and returns its id. Scope must be PerClient,
// PerFleet or PerEveryone. Programs that name the same pool of scope PerEveryone
// share its units; the type and the fields of p must be equal in all of them.
func (b *Build) Pool(p Pool, scope Scope, name string) (PoolID, error) {
	if scope == PerCall {
		return 0, errors.New("a pool cannot have scope call, because calls must share it; use scope client, fleet or everyone")
	}
	s, err := b.reserve(scope, p.Words(), name, fmt.Sprintf("%T%+v", p, p))
	if err != nil {
		return 0, err
	}
	b.program.Pools = append(b.program.Pools, PoolSpec{Pool: p, Scope: scope, At: s.at})
	return PoolID(len(b.program.Pools) - 1), nil
}

// PoolWords returns the words of a pool, for a guard that changes the pool's limit
// after outcomes. After such a change, a Put of 0 units makes the driver check the
// queue again.
func (b *Build) PoolWords(id PoolID) Slot {
	p := b.program.Pools[id]
	return Slot{scope: p.Scope, n: uint16(p.Pool.Words()), at: p.At}
}
