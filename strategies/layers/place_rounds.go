package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// placeRounds is a loop over a list of places that tries each once per round.
// Region failover and key rotation use it; a place is a region or a key.
type placeRounds struct {
	places  []uint8
	set     func(t *wire.Target, place uint8)
	rounds  int
	on      Rules
	backoff strategies.Backoff
	// Where calls begin: at the first place, unless another answered less than stay
	// ago; with follow, at the place to which the last call moved; with even, each
	// at the next place.
	stay    time.Duration
	follow  bool
	even    bool
	shared  strategies.Slot // the current place, and the time until which it is used
	words   strategies.Slot // the words of the call, as below
	nothing strategies.Signal
	purpose strategies.Purpose
}

// The words of a call: its place, the number of rounds that are over, and the time
// before which the next round does not begin, because a place has asked for it.
// Then two sets of places follow: those tried in this round, and those that have
// failed permanently and are not tried again.
const (
	roundPlace = iota
	roundsOver
	roundUntil
	roundSets
)

// sets returns the places tried in this round and those that have failed
// permanently.
func (r *placeRounds) sets(c *strategies.Call) (had, lost []int64) {
	w := c.Words(r.words)[roundSets:]
	return w[:len(w)/2], w[len(w)/2:]
}

// next returns the first place after here that is not in the set; ok is false if
// all are.
func (r *placeRounds) next(here int64, set []int64) (place int64, ok bool) {
	for range r.places {
		if here = (here + 1) % int64(len(r.places)); !isSet(set, here) {
			return here, true
		}
	}
	return here, false
}

// withRounds wraps a placeRounds around inner; alarm is raised when no place is left.
func withRounds(b *strategies.Build, r placeRounds, scope strategies.Scope, name, alarm string, inner strategies.Strategy) (strategies.Strategy, error) {
	switch {
	case len(r.places) < 2:
		return nil, errors.New("the list must have at least two entries")
	case r.rounds < 0:
		return nil, errors.New("rounds must not be negative; 0 means no bound")
	case r.rounds != 1 && r.backoff == nil:
		return nil, errors.New("backoff is required unless rounds is 1; for rounds without a wait use fixed with 0s")
	}
	seen := [256]bool{}
	for _, p := range r.places {
		if seen[p] {
			return nil, fmt.Errorf("number %d is twice in the list; leave one out", p)
		}
		seen[p] = true
	}
	if r.backoff != nil {
		if err := strategies.ValidateBackoff(r.backoff); err != nil {
			return nil, err
		}
	}
	if err := r.on.Validate(); err != nil {
		return nil, err
	}
	if err := scope.CheckShared(name); err != nil {
		return nil, err
	}
	var err error
	if r.shared, err = b.ReserveShared(scope, 2, alarm, name, fmt.Sprint(r.places)); err != nil {
		return nil, err
	}
	if r.words, err = b.Reserve(strategies.PerCall, roundSets+2*((len(r.places)+63)/64), ""); err != nil {
		return nil, err
	}
	if r.nothing, err = b.Alarm(alarm); err != nil {
		return nil, err
	}
	r.purpose = b.Purpose()
	return b.Loop(&r, inner)
}

// Start implements Loop.
func (r *placeRounds) Start(now time.Duration, c *strategies.Call) {
	place, until := c.Word(r.shared, 0), c.Word(r.shared, 1)
	first := *place
	switch {
	case r.even:
		*place = (*place + 1) % int64(len(r.places))
	case !r.follow && int64(now) >= *until:
		first = 0
	}
	clear(c.Words(r.words))
	r.move(c, first)
}

// move moves the call to a place.
func (r *placeRounds) move(c *strategies.Call, place int64) {
	*c.Word(r.words, roundPlace) = place
	r.set(&c.Target, r.places[place])
}

// After implements Loop.
func (r *placeRounds) After(now time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) strategies.Decision {
	here := *c.Word(r.words, roundPlace)
	place, until := c.Word(r.shared, 0), c.Word(r.shared, 1)
	if d.End.Reason == strategies.Succeeded {
		if r.stay > 0 && here != 0 {
			*place, *until = here, int64(saturating.Add(now, r.stay))
		}
		return d
	}
	if !r.on.Retries(e.Outcome, d.End) {
		return d
	}
	had, lost := r.sets(c)
	turn(had, here, true)
	notBefore := c.Word(r.words, roundUntil)
	if d.End.Class.Transient() {
		*notBefore = max(*notBefore, int64(saturating.Add(now, max(e.Hint(), 0))))
	} else {
		turn(lost, here, true)
	}
	next, inThisRound := r.next(here, had)
	hopeful := true
	if !inThisRound {
		next, hopeful = r.next(here, lost)
	}
	if *place == here && !r.even {
		*place, *until = next, max(*until, int64(now)) // later calls do not try this place first
	}
	if inThisRound {
		r.move(c, next)
		return strategies.Decision{Kind: strategies.Wait}
	}
	round := c.Word(r.words, roundsOver)
	*round++
	if !hopeful || r.rounds > 0 && *round >= int64(r.rounds) {
		d.End.Reason = strategies.NothingLeft
		c.Raise(r.nothing)
		return d
	}
	copy(had, lost)
	r.move(c, next)
	return strategies.Decision{Kind: strategies.Wait, After: pause(c, r.backoff, r.purpose, *round+1, d.End.Class, time.Duration(*notBefore)-now)}
}
