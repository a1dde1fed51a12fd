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

// Flight wraps a single flight around inner: of calls that ask the same at the
// same time one leads and goes in, and the others follow it and end as it does.
// Scope is who can meet, PerClient or wider; flights that everyone shares are
// known by their name. Key says what is asked; calls of key 0 meet nobody. A nil
// key is Demand.Prompt.
//
// It is what users of golang.org/x/sync/singleflight expect, but for one thing.
// Whatever becomes of the leader becomes of its followers, failures included:
// who would try again does so in a loop outside, where the first to come back
// leads a new flight. But a leader whose caller withdraws it, of which its
// followers' callers know nothing, passes the lead on to the first of them.
func (b *Build) Flight(scope Scope, name string, key func(c *Call) uint32, inner Strategy) (Strategy, error) {
	if err := shareable(scope, name); err != nil {
		return nil, err
	}
	if len(b.program.Flights) > 0 {
		return nil, errors.New("a stack has one single flight at most; the wider one is enough")
	}
	bit, err := b.phase("SingleFlight")
	if err != nil {
		return nil, err
	}
	leads, err := b.Reserve(PerCall, 1, "")
	if err != nil {
		return nil, err
	}
	spec := FlightSpec{Scope: scope, Keyed: key != nil}
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
	return &flight{inner, key, nil, bit, id, leads}, nil
}

type flight struct {
	inner Strategy
	key   func(c *Call) uint32
	left  func(c *Call) // hears that one that follows has been withdrawn; may be nil
	bit   uint32        // set while the call follows another
	id    FlightID
	leads Slot // the key of the flight that the call joins or leads; 0 if none
}

// Next implements Strategy.
func (f *flight) Next(now time.Duration, c *Call, e Event) Decision {
	switch e.Kind {
	case Begin:
		key := f.key(c)
		*c.Word(f.leads, 0) = int64(key)
		if key != 0 {
			c.Phase |= f.bit
			return Decision{Kind: Join, Take: Take{Pool: PoolID(f.id), N: key}}
		}
	case Joined:
		if c.Phase&f.bit != 0 {
			f.landed(c)
			d := Decision{Kind: Stop, End: c.Joined}
			if d.End.Reason == ServedFromMemory {
				d.Kind = Answer
			}
			return d
		}
	case Admitted:
		if c.Phase&f.bit != 0 {
			c.Phase &^= f.bit
			e = Event{Kind: Begin}
		}
	case Cancelled:
		if c.Phase&f.bit != 0 { // nothing inside has begun
			f.landed(c)
			if f.left != nil {
				f.left(c)
			}
			return withdrawn()
		}
	}
	d := f.inner.Next(now, c, e)
	if leads := c.Word(f.leads, 0); *leads != 0 && d.settles() {
		c.Land(f.id, uint32(*leads), d.End)
		*leads = 0
	}
	return d
}

// landed notes that the call follows nobody any more, and never led.
func (f *flight) landed(c *Call) {
	c.Phase &^= f.bit
	*c.Word(f.leads, 0) = 0
}
