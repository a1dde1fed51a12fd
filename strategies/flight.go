package strategies

import (
	"errors"
	"time"
)

// FlightID is the index of a table of flights among those of its program.
type FlightID uint16

// FlightSpec is who shares a table of flights.
type FlightSpec struct {
	Scope Scope
	// At tells tables apart that everyone shares: those of one name have the
	// same.
	At uint32
	// Keyed says that the stack itself tells which calls are equal, and not
	// Demand.Prompt; Merges that they are not even equal, but one request asks
	// for all.
	Keyed, Merges bool
}

// Flight is the configuration of a single flight: of calls that ask the same at the
// same time one leads and goes in, and the others follow it and end as it does.
//
// It is what users of golang.org/x/sync/singleflight expect, but for one thing.
// Whatever becomes of the leader becomes of its followers, failures included:
// who would try again does so in a loop outside, where the first to come back
// leads a new flight. But a leader whose caller withdraws it, of which its
// followers' callers know nothing, passes the lead on to the first of them.
type Flight struct {
	// Scope is who can meet, PerClient or wider; flights that everyone shares are
	// known by their Name.
	Scope Scope
	Name  string
	// Key says what is asked; calls of key 0 meet nobody. A nil key is
	// Demand.Prompt.
	Key func(c *Call) uint32
	// ByPrompt says that calls of one key have the same prompt. It is implied
	// without a Key.
	ByPrompt bool
	// Merges says that the calls of a flight ask for different things, and that
	// one request asks for all of them.
	Merges bool
	// Left, if it is not nil, is called for a call that is cancelled while it
	// follows another.
	Left func(c *Call)
}

// Flight wraps a single flight around inner. A stack has one at most.
func (b *Build) Flight(f Flight, inner Strategy) (Strategy, error) {
	scope, name, key := f.Scope, f.Name, f.Key
	if err := scope.CheckShared(name); err != nil {
		return nil, err
	}
	if len(b.program.Flights) > 0 {
		return nil, errors.New("a stack has one single flight at most; the wider one is enough")
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
	left    func(c *Call) // hears that one that follows has been withdrawn; may be nil
	waiting Waiting       // set while the call follows another
	id      FlightID
	leads   Slot // the key of the flight that the call joins or leads; 0 if none
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
		if f.waiting.In(c) { // nothing inside has begun
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

// landed notes that the call follows nobody any more, and never led.
func (f *flight) landed(c *Call) {
	f.waiting.Clear(c)
	*c.Word(f.leads, 0) = 0
}
