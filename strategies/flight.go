package strategies

import (
	"errors"
	"time"
)

// FlightID is the index of a table of shared flights in Program.Flights.
type FlightID uint16

// FlightSpec describes a table of shared flights. Scope is the scope in which calls
// share flights.
type FlightSpec struct {
	Scope Scope
	// At identifies a table of scope PerEveryone: tables of the same name have the
	// same At.
	At uint32
	// Keyed is true if a key of the stack, not Demand.Prompt, decides which calls
	// share a flight. Merges is true if the calls of a flight may differ and one
	// request asks for all of them.
	Keyed, Merges bool
}

// Flight is the configuration of a single flight: of equal calls at the same time,
// one leads and enters the layers inside; the others follow it and end as it does.
//
// It works like golang.org/x/sync/singleflight, with one exception. Followers end
// like their leader, also when it fails: to retry, use a loop outside, where the
// first call to return leads a new flight. But when the caller cancels the leader,
// its followers are not cancelled: the first of them leads instead.
type Flight struct {
	// Scope is the scope in which calls share flights, PerClient or wider. Programs
	// share flights of scope PerEveryone if their Name is equal.
	Scope Scope
	Name  string
	// Key returns the key of a call: calls of the same key share a flight, and a
	// call of key 0 has none. If Key is nil, the key is Demand.Prompt.
	Key func(c *Call) uint32
	// ByPrompt is true if calls of one key have the same prompt. It is implied if
	// Key is nil.
	ByPrompt bool
	// Merges is true if the calls of a flight may ask for different things and one
	// request asks for all of them.
	Merges bool
	// Left, if it is not nil, is called for a call that is cancelled while it
	// follows another.
	Left func(c *Call)
}

// Flight wraps a single flight around inner. It is an error if the stack has one
// already, or if the scope is PerCall or needs a name.
func (b *Build) Flight(f Flight, inner Strategy) (Strategy, error) {
	scope, name, key := f.Scope, f.Name, f.Key
	if err := scope.CheckShared(name); err != nil {
		return nil, err
	}
	if len(b.program.Flights) > 0 {
		return nil, errors.New("a stack may have one single flight only; keep the one of the wider scope")
	}
	waiting, err := b.Waiting("SingleFlight")
	if err != nil {
		return nil, err
	}
	leads, err := b.Reserve(PerCall, 1, "")
	if err != nil {
		return nil, err
	}
	spec := FlightSpec{Scope: scope, Keyed: key != nil && !f.ByPrompt, Merges: f.Merges}
	if scope == PerEveryone {
		s, err := b.reserve(scope, 1, "flight "+name, "")
		if err != nil {
			return nil, err
		}
		spec.At = s.at
	}
	id := FlightID(len(b.program.Flights))
	b.program.Flights = append(b.program.Flights, spec)
	if key == nil {
		b.AsksDemand()
		key = func(c *Call) uint32 { return c.Demand.Prompt }
	}
	return &flight{inner, key, f.Left, waiting, id, leads}, nil
}

type flight struct {
	inner   Strategy
	key     func(c *Call) uint32
	left    func(c *Call) // called when a follower is cancelled; may be nil
	waiting Waiting       // set while the call follows another
	id      FlightID
	leads   Slot // key of the flight that the call joins or leads; 0 means no flight
}

// Next implements Strategy.
func (f *flight) Next(now time.Duration, c *Call, e Event) Decision {
	switch e.Kind {
	case Begin:
		key := f.key(c)
		*c.Word(f.leads, 0) = int64(key)
		if key != 0 {
			f.waiting.Set(c)
			return Decision{Kind: Join, Take: Take{Pool: PoolID(f.id), N: key}}
		}
	case Joined:
		if f.waiting.In(c) {
			f.landed(c)
			d := Decision{Kind: Stop, End: c.Joined}
			if d.End.Reason == ServedFromMemory {
				d.Kind = Answer
			}
			return d
		}
	case Admitted:
		if f.waiting.In(c) {
			f.waiting.Clear(c)
			e = Event{Kind: Begin}
		}
	case Cancelled:
		if f.waiting.In(c) { // the layers inside have not begun
			f.landed(c)
			if f.left != nil {
				f.left(c)
			}
			return StopCancelled()
		}
	}
	d := f.inner.Next(now, c, e)
	if leads := c.Word(f.leads, 0); *leads != 0 && d.Settles() {
		c.Land(f.id, uint32(*leads), d.End)
		*leads = 0
	}
	return d
}

// landed clears the state of a follower: it no longer follows, and has not led.
func (f *flight) landed(c *Call) {
	f.waiting.Clear(c)
	*c.Word(f.leads, 0) = 0
}
