package strategies

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Never, as the time when a pool is ready, means: not before somebody puts
// units back. Where nobody holds any, that is for ever: the driver keeps such a
// head of its line waiting, and all behind it, until its call is withdrawn.
const Never time.Duration = math.MaxInt64

// Pool is a thing that is shared and waited for: tokens, permits, a window.
// It is an immutable program; m is its memory, of the scope it was reserved
// in. The driver keeps one first-come-first-served line for each pool, asks on
// behalf of its head only, and charges at admission: a waiter that gives up
// costs nothing.
type Pool interface {
	// Words is how many words of memory the pool needs.
	Words() int
	// TryTake takes n units if they are there at now. If not, it says when
	// they may be, or Never; readyAt > now in that case.
	TryTake(now time.Duration, m []int64, n uint32) (ok bool, readyAt time.Duration)
	// Put gives n units back.
	Put(now time.Duration, m []int64, n uint32)
}

// PoolID is the index of a pool among those of its program.
type PoolID uint16

// PoolSpec is a pool that a stack waits for, and where its memory is.
type PoolSpec struct {
	Pool  Pool
	Scope Scope
	At    uint32 // its first word in the memory of that scope
}

// Pool reserves memory for p and returns its id. Scope must be PerClient,
// PerFleet or PerEveryone; a pool shared by everyone is known by its name, and
// programs that name the same pool share its units. They must agree on what it
// is: on the type and the fields of p.
func (b *Build) Pool(p Pool, scope Scope, name string) (PoolID, error) {
	if scope == PerCall {
		return 0, errors.New("a pool of one call has nobody to wait for; use scope client, fleet or everyone")
	}
	s, err := b.reserve(scope, p.Words(), name, fmt.Sprintf("%T%+v", p, p))
	if err != nil {
		return 0, err
	}
	b.program.Pools = append(b.program.Pools, PoolSpec{Pool: p, Scope: scope, At: s.at})
	return PoolID(len(b.program.Pools) - 1), nil
}

// PoolWords names the memory of a pool, for a guard that moves the pool's limit
// by what it hears. After such a move, a Put of no units lets the driver look at
// the line again.
func (b *Build) PoolWords(id PoolID) Slot {
	p := b.program.Pools[id]
	return Slot{scope: p.Scope, n: uint16(p.Pool.Words()), at: p.At}
}
