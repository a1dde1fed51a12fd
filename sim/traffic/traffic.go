// Package traffic determines when calls arrive and what they ask for.
//
// Most callers need three names. Traffic is the source of a fleet's calls;
// Stream, Bursts and Periodic are arrivals of an open fleet; ReadTrace reads
// recorded calls.
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
// was settled. A one-shot fleet is a closed one with Calls = 1. The calls of an
// open fleet arrive independently of earlier ones and go to its clients in turn.
type Traffic struct {
	// Clients is the number of clients, ≥ 1.
	Clients int
	// Start is the time of a closed client's first call, Think its pause between
	// calls.
	Start, Think draw.Dist
	// Calls bounds the calls of each closed client; 0 means no bound.
	Calls int
	// Size is the demand of every call without Arrivals and Mix.
	Size wire.Demand
	// Mix, if not nil, draws the demand of each call and replaces Size and that
	// of Arrivals.
	Mix *Mix
	// Arrivals makes the fleet open.
	Arrivals Arrivals
}

// Arrivals are the calls of an open fleet. Implementations are immutable: runs
// share them.
type Arrivals interface {
	// Next returns the arrival time of call i = 0, 1, …; prev is that of the
	// call before (0 for the first) and r are the fleet's draws. ok is false if
	// there is no such call.
	Next(r draw.Rand, i uint64, prev time.Duration) (at time.Duration, ok bool)
	// Demand returns the demand of call i.
	Demand(r draw.Rand, i uint64) wire.Demand
}

// OneShot returns a fleet whose clients make one call each, at a time drawn
// uniformly from [0, within).
func OneShot(clients int, within time.Duration) Traffic {
	return Traffic{Clients: clients, Calls: 1, Start: draw.Between(0, within)}
}

// IsOneShot reports whether each client makes one call only.
func (t *Traffic) IsOneShot() bool { return t.Arrivals == nil && t.Calls == 1 }

// Stream is an open stream of calls with independent gaps: Poisson traffic if
// the gaps are exponential.
type Stream struct {
	// Gap is the time between two arrivals; its mean must be positive.
	Gap draw.Dist
	// Size is the demand of every call.
	Size wire.Demand
	// Until stops the stream; 0 means never.
	Until time.Duration
	// Rhythm multiplies the rate.
	Rhythm Rhythm
}

// Next implements Arrivals.
func (s Stream) Next(r draw.Rand, i uint64, prev time.Duration) (time.Duration, bool) {
	at, ok := s.Rhythm.after(prev, s.Gap.Draw(r, i))
	return at, ok && (s.Until == 0 || at < s.Until)
}

// Demand implements Arrivals.
func (s Stream) Demand(draw.Rand, uint64) wire.Demand { return s.Size }
