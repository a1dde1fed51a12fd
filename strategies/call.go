package strategies

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Scope is the set of calls that share a word of memory.
type Scope uint8

// The scopes, narrowest first. All words start at zero; those of a call are
// zeroed when the call begins, the others live as long as the run.
const (
	PerCall Scope = iota
	PerClient
	PerFleet
	PerEveryone
	NumScopes = iota // number of scopes
)

// String returns the scope's name as scenario files spell it.
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return fmt.Sprintf("scope(%d)", uint8(s))
}

// Names returns the name of each scope, as files spell it, and its meaning.
func (Scope) Names() [][2]string {
	return [][2]string{
		PerCall:     {"call", "each call has its own"},
		PerClient:   {"client", "each client has its own"},
		PerFleet:    {"fleet", "all clients of a fleet share one"},
		PerEveryone: {"everyone", "all fleets share those of the same name"},
	}
}

var scopeNames = [NumScopes]string{"call", "client", "fleet", "everyone"}

// CheckShared reports an error if memory that clients share cannot have scope s
// under the given name.
func (s Scope) CheckShared(name string) error {
	switch {
	case s == PerCall || s >= NumScopes:
		return fmt.Errorf("it cannot be shared per %v; use client, fleet or everyone", s)
	case s == PerEveryone && name == "":
		return errors.New("what everyone shares needs a name")
	}
	return nil
}

// Slot identifies words that a layer reserved when its stack was built.
type Slot struct {
	scope Scope
	n     uint16 // number of words
	at    uint32 // index of the first word
}

// Call is a strategy's view of one call: its properties, the words that its layers
// have reserved, and its draws. A driver sets it before each Next and stores it
// after.
type Call struct {
	// ID identifies the call in its run; draws belong to it.
	ID uint64
	// Row is a small number, unique among unsettled calls, for strategies that keep
	// state of a call outside its words. A later call may have the same Row; its
	// first event is Begin.
	Row uint32
	// Client is the index of its client within the fleet.
	Client uint32
	// Attempts counts the attempts sent so far.
	Attempts uint32
	// InFlight counts the attempts that have not ended.
	InFlight uint32
	// Born is when the call arrived, as time since the run began.
	Born time.Duration
	// Demand is what the next attempt asks for, at first what the caller asks for. A
	// layer that changes it calls Build.ChangesDemand when its stack is built.
	Demand wire.Demand
	// Target is where the next attempt goes; a loop may change it before the layers
	// inside begin.
	Target wire.Target

	// Joined describes how the call that this one followed was settled, for a Joined
	// event.
	Joined End

	driver   DriverState
	commands commands
}

// DriverState is what a driver keeps for the layers of a call: their memory, the
// source of their draws and what grants them units at once. Layers reach it through
// the methods of Call, Slot and Waiting.
type DriverState struct {
	// Memory is the words of each scope, which the driver owns; those of this call,
	// its client and so on begin at From.
	Memory [NumScopes][]int64
	From   [NumScopes]uint32
	// Phase has a bit for each layer in which the call waits. A driver starts it at
	// zero and stores it with the call.
	Phase uint32
	// Turn counts the decisions since the last attempt was sent, so that two refusals
	// by one guard draw differently. A driver sets it to 0 at Begin and after a Send,
	// and adds 1 after any other Next, unless the decision was an Acquire or a Join
	// that it granted at once.
	Turn uint32
	// Rand is the generator of the call's run or fleet.
	Rand draw.Rand
	// Pools, if it is not nil, grants units that no other call waits for, so that a
	// guard whose Acquire is granted continues at once. The order in which units are
	// granted is the same either way.
	Pools Pools
	// Scripts runs the scripts of the stack; the driver of a Scripted program sets it.
	Scripts *Scripts
}

// Driver returns the state that the call's driver sets before Next and stores after
// it. It is for drivers; layers do not need it.
func (c *Call) Driver() *DriverState { return &c.driver }

// NewCall returns a call that draws from r, without memory.
func NewCall(r draw.Rand) *Call { return &Call{driver: DriverState{Rand: r}} }

// Word returns the i-th word of s, i = 0, 1, …; it panics if s has fewer.
func (c *Call) Word(s Slot, i uint32) *int64 {
	if i >= uint32(s.n) {
		panic("strategies: a layer uses a word beyond those it reserved")
	}
	scope := s.scope & (NumScopes - 1) // spares two checks of bounds
	return &c.driver.Memory[scope][c.driver.From[scope]+s.at+i]
}

// Word needs a power of two: this does not compile otherwise.
var _ [0]struct{} = [NumScopes & (NumScopes - 1)]struct{}{}

// Words returns all words of s.
func (c *Call) Words(s Slot) []int64 {
	at := c.driver.From[s.scope] + s.at
	return c.driver.Memory[s.scope][at : at+uint32(s.n)]
}

// PoolWords returns the words of a pool that begin at the given word of a scope, and
// all words after them.
func (d *DriverState) PoolWords(s Scope, at uint32) []int64 { return d.Memory[s][d.From[s]+at:] }

// Uniform draws a duration in [lo, hi), for the given purpose. Draws belong to
// (seed, call, attempt, turn, purpose): the same call after the same history
// draws the same, whatever other calls do.
func (c *Call) Uniform(p Purpose, lo, hi time.Duration) time.Duration {
	return c.driver.Rand.For(c.ID).Uniform(c.index(p), lo, hi)
}

// Exponential draws an exponentially distributed duration of the given mean,
// for the given purpose.
func (c *Call) Exponential(p Purpose, mean time.Duration) time.Duration {
	return c.driver.Rand.For(c.ID).Exp(c.index(p), mean)
}

// Float draws a uniform float in [0, 1), for the given purpose.
func (c *Call) Float(p Purpose) float64 { return c.driver.Rand.For(c.ID).Float(c.index(p)) }

func (c *Call) index(p Purpose) uint64 {
	return uint64(c.Attempts)<<32 | uint64(uint16(c.driver.Turn))<<16 | uint64(p)
}

// TryTake takes units of a pool at once, if no call waits for the pool and the units
// are available, and reports whether it did. If it did not, a layer that wants to
// wait returns an Acquire.
func (c *Call) TryTake(t Take) bool { return c.driver.Pools != nil && c.driver.Pools.TryTake(c, t) }

// Pools grants units of pools.
type Pools interface {
	// TryTake takes units of a pool for c if its queue is empty and the units are
	// available, and reports whether it did.
	TryTake(c *Call, t Take) bool
}

// Purpose keeps the draws of one layer apart from those of others; Build.Purpose
// returns a new one.
type Purpose uint16

// Second returns a purpose for a second draw of the same layer. It differs from all
// purposes of Build.Purpose, which count up from 1 and stay far below 1<<13.
func (p Purpose) Second() Purpose { return p + 1<<13 }
