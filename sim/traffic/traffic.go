// Package traffic says when calls arrive and what they ask for.
package traffic

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Traffic is the source of a fleet's calls.
//
// A closed fleet (Arrivals nil) has clients that each make one call after the
// other: the first at Start, each following one a Think time after the last
// was settled. A one-shot fleet is a closed one with Calls = 1. An open fleet
// has calls that arrive whatever becomes of the earlier ones, dealt to its
// clients in turn.
type Traffic struct {
	// Clients is how many clients the fleet has, ≥ 1.
	Clients int
	// Start is when a closed client first calls, Think how long it pauses
	// between calls.
	Start, Think draw.Dist
	// Calls bounds the calls of each closed client; 0 means no bound.
	Calls int
	// Size is what every call asks for, unless Arrivals or Mix say otherwise.
	Size wire.Demand
	// Mix, if not nil, has each call draw what it asks for, whatever Size and
	// Arrivals say.
	Mix *Mix
	// Arrivals makes the fleet open.
	Arrivals Arrivals
}

// Arrivals are the calls of an open fleet. Implementations are immutable, and
// shared by runs.
type Arrivals interface {
	// Next returns when call i = 0, 1, … arrives, given that the one before
	// arrived at prev (0 for the first) and the draws r of the fleet; ok is
	// false if there is no such call.
	Next(r draw.Rand, i uint64, prev time.Duration) (at time.Duration, ok bool)
	// Demand returns what call i asks for.
	Demand(r draw.Rand, i uint64) wire.Demand
}

// OneShot returns a fleet whose clients make one call each, at a time drawn
// evenly from [0, within).
func OneShot(clients int, within time.Duration) Traffic {
	return Traffic{Clients: clients, Calls: 1, Start: draw.Between(0, within)}
}

// IsOneShot reports whether nothing arrives after the first call of each
// client.
func (t *Traffic) IsOneShot() bool { return t.Arrivals == nil && t.Calls == 1 }

// Stream is an open stream of calls with independent gaps: Poisson traffic if
// the gaps are exponential.
type Stream struct {
	// Gap is the time between two arrivals; its mean must be positive.
	Gap draw.Dist
	// Size is what every call asks for.
	Size wire.Demand
	// Until stops the stream; 0 means never.
	Until time.Duration
	// Rhythm makes the rate vary: gaps pass at its speed.
	Rhythm Rhythm
}

// Next implements Arrivals.
func (s Stream) Next(r draw.Rand, i uint64, prev time.Duration) (time.Duration, bool) {
	at, ok := s.Rhythm.after(prev, s.Gap.Draw(r, i))
	return at, ok && (s.Until == 0 || at < s.Until)
}

// Demand implements Arrivals.
func (s Stream) Demand(draw.Rand, uint64) wire.Demand { return s.Size }
