package strategies

import (
	"errors"
	"fmt"
	"time"
)

// Race is a layer that may have what is inside it under way several times at
// once for one call. Each time is a runner, with words, phase, timer, target and
// demand of its own, so that a retry or a permit inside belongs to one of them.
// The first runner begins with the race, the others one after the other when the
// one before has had its time. Implement it and wrap it with Build.Race.
//
// As a rule the first runner that brings an answer wins, and the others are given
// up: their attempts are hung up on, and the layers inside hear of each that it
// is Settled. A race fails when nobody is under way any more.
type Race interface {
	// Runners is how many there may be, 2 to MaxRunners.
	Runners() int
	// Start resets the words of the race; its first runner is about to begin.
	Start(now time.Duration, c *Call)
	// Delay says how long from now runner n = 1, 2, … is to begin if there is no
	// answer by then; Never means not. It is asked when the runner before sends an
	// attempt and none is planned: who stands in line is not overtaken by its
	// own second.
	Delay(now time.Duration, c *Call, n uint32) time.Duration
	// Launch is asked when that time has come: Idle lets runner n begin, with the
	// target and the demand that the race began with unless Launch changes them;
	// Wait asks again after that time; anything else means that no more runners
	// begin. A race that changes demands calls Build.ChangesDemand before
	// Build.Race.
	Launch(now time.Duration, c *Call, n uint32) Decision
	// After hears that runner n has ended: d is its Stop or its Answer, e the event
	// that caused it. A Stop or an Answer ends the race, as a rule d itself. Idle
	// leaves the race to the others: d ends it all the same if there are none.
	// Wait does so too, and plans the next runner for after that time. What After
	// says of a Stop of class wire.Cancelled does not count: that runner was
	// given up.
	After(now time.Duration, c *Call, n uint32, e Event, d Decision) Decision
}

// MaxRunners bounds Race.Runners, maxWidth the attempts of a call that nested
// races may have in flight.
const (
	MaxRunners = 8
	maxWidth   = 64
)

// Race wraps r around inner. Layers outside a race must let its Sends pass.
func (b *Build) Race(r Race, inner Strategy) (Strategy, error) {
	n := r.Runners()
	if n < 2 || n > MaxRunners {
		return nil, fmt.Errorf("a race has 2 to %d runners, not %d", MaxRunners, n)
	}
	if len(b.program.Flights) > 0 {
		return nil, errors.New("a single flight inside a race would have a call follow itself; put it outside")
	}
	g := &raced{race: r, inner: inner, runners: uint32(n), width: uint32(max(1, b.width))}
	if b.width = n * int(g.width); b.width > maxWidth {
		return nil, fmt.Errorf("nested races may have %d attempts of one call in flight; at most %d", b.width, maxWidth)
	}
	if b.program.ChangesDemand {
		g.demand = demandWords
	}
	var err error
	if g.waiting, err = b.Waiting(fmt.Sprintf("%T", r)); err != nil {
		return nil, err
	}
	g.bank = uint32(b.program.Words[PerCall]) // what is inside has reserved so many
	if g.banks, err = b.Reserve(PerCall, (n-1)*int(g.bank), ""); err != nil {
		return nil, err
	}
	if g.own, err = b.Reserve(PerCall, int(g.offset(uint32(n))), ""); err != nil {
		return nil, err
	}
	b.program.Races = true
	return g, nil
}

// raced is the program of a race; what its words are is said in
// race_words.go, what it does in race_run.go.
type raced struct {
	race    Race
	inner   Strategy
	waiting Waiting // set while there is nothing to do but to wait
	runners uint32
	width   uint32 // how many attempts one runner may have in flight
	demand  uint32 // words for a demand: none unless layers inside change it
	bank    uint32 // words of what is inside; those of runner 0 are in their place
	banks   Slot   // those of the others
	own     Slot
}
