package strategies

import (
	"errors"
	"fmt"
	"time"
)

// Race is a layer that may run the layers inside it several times at once for one
// call. Each run is a runner, with its own words, phase, timer, target and demand,
// so that a retry or a permit inside belongs to one runner. The first runner
// begins with the race; each further runner begins after a delay from the one
// before. Implement it and wrap it with Build.Race.
//
// Usually the first runner with an answer wins and the others are cancelled: their
// attempts are abandoned, and the layers inside receive a Settled event for each.
// A race fails when no runner is left.
type Race interface {
	// Runners returns the maximum number of runners, 2 to MaxRunners.
	Runners() int
	// Start resets the words of the race, before its first runner begins.
	Start(now time.Duration, c *Call)
	// Delay returns the time from now until runner n = 1, 2, … begins if there is
	// no answer by then; Never means that it does not begin. It is called when the
	// runner before sends an attempt and no runner is planned. So a runner that
	// still waits for a pool does not cause another one to begin.
	Delay(now time.Duration, c *Call, n uint32) time.Duration
	// Launch is called at that time. If it returns Idle, runner n begins, with the
	// target and the demand that the race began with unless Launch changes them.
	// After a Wait, Launch is called again after that time. After any other
	// decision no more runners begin. A race that changes demands calls
	// Build.ChangesDemand before Build.Race.
	Launch(now time.Duration, c *Call, n uint32) Decision
	// After is called when runner n has ended: d is its Stop or its Answer, e the
	// event that caused it. If After returns a Stop or an Answer, usually d, that
	// decision ends the race. After Idle the race continues with the other runners,
	// or ends with d if there are none. Wait is like Idle, and also plans the next
	// runner after that time. The result of After is ignored for a Stop of class
	// wire.Cancelled, which means that the runner was cancelled.
	After(now time.Duration, c *Call, n uint32, e Event, d Decision) Decision
}

// MaxRunners is the largest value of Race.Runners; maxWidth is the largest number
// of attempts of one call that nested races may have in flight.
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
		return nil, errors.New("a single flight inside a race would make a call wait for itself; put it outside the race")
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
	g.bank = uint32(b.program.Words[PerCall]) // the words that the layers inside have reserved
	if g.banks, err = b.Reserve(PerCall, (n-1)*int(g.bank), ""); err != nil {
		return nil, err
	}
	if g.own, err = b.Reserve(PerCall, int(g.offset(uint32(n))), ""); err != nil {
		return nil, err
	}
	b.program.Races = true
	return g, nil
}

// raced is the program of a race: race_words.go defines its words, race_run.go its
// decisions.
type raced struct {
	race    Race
	inner   Strategy
	waiting Waiting // set while the race only waits
	runners uint32
	width   uint32 // the maximum of attempts that one runner has in flight
	demand  uint32 // words for a demand; 0 unless the race or layers inside change demands
	bank    uint32 // number of words of the layers inside; runner 0 uses them in place
	banks   Slot   // the words of the layers inside for the other runners
	own     Slot
}
