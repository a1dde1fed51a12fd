package live

import (
	"container/list"
	"errors"
	"fmt"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// flight is one call that leads and the equal calls that follow it, first come
// first. It is guarded by Everyone.mu.
type flight struct {
	table     map[flightKey]*flight
	key       flightKey
	keyed     bool // the stack says what is equal
	leader    *caller
	following list.List // of callers
}

// flightKey says which calls are equal.
type flightKey struct{ table, asks uint32 }

// join has c follow the equal call under way, or lead if there is none.
func (c *caller) join(take strategies.Take) (leads bool) {
	t := c.t
	switch {
	case c.flight != nil:
		c.wrong = errInFlight
		return false
	case int(take.Pool) >= len(t.program.Flights):
		c.wrong = fmt.Errorf("live: the strategy joins flights of table %d, and has %d", take.Pool, len(t.program.Flights))
		return false
	}
	spec := t.program.Flights[take.Pool]
	table, key := t.flights, flightKey{uint32(take.Pool), take.N}
	if spec.Scope == strategies.PerEveryone {
		table, key.table = t.everyone.flights, spec.At
	}
	c.cargo, c.berth = nil, 0
	f := table[key]
	if f == nil {
		f = &flight{table: table, key: key, keyed: spec.Keyed, leader: c}
		table[key] = f
		c.flight = f
		return true
	}
	c.flight, c.seat = f, f.following.PushBack(c)
	return false
}

// Land implements strategies.Asides: the flight that c leads is over. Followers
// get a copy of its reply if all of it is there.
func (c *caller) Land(_ strategies.FlightID, _ uint32, end strategies.End) {
	f := c.flight
	switch {
	case f == nil || f.leader != c: // its followers have gone their own ways
	case end.Class == wire.Cancelled:
		c.quit()
	case end.Class == wire.OK && !c.last.whole():
		c.disband()
	default:
		delete(f.table, f.key)
		c.flight = nil
		for f.following.Len() > 0 {
			follower := f.following.Front().Value.(*caller)
			r, rode := c.share(follower)
			if !rode || !f.keyed && follower.asks != c.asks {
				// Only the short numbers by which strategies know questions are equal.
				follower.goAlone()
				continue
			}
			f.first().flight = nil
			follower.post(letter{kind: strategies.Joined, outcome: c.outcomeNow(end), end: end, reply: r, err: c.failure})
		}
	}
}

// first takes the first of those who follow from them.
func (f *flight) first() *caller {
	c := f.following.Remove(f.following.Front()).(*caller)
	c.seat = nil
	return c
}

// disband ends the flight that c leads, if it leads one whose answer cannot be
// shared, as a stream cannot: each of those who follow goes its own way.
func (c *caller) disband() {
	f := c.flight
	if f == nil || f.leader != c {
		return
	}
	delete(f.table, f.key)
	c.flight = nil
	for f.following.Len() > 0 {
		f.following.Front().Value.(*caller).goAlone()
	}
}

// goAlone takes c from the flight that it follows.
func (c *caller) goAlone() {
	c.flight.following.Remove(c.seat)
	c.flight, c.seat = nil, nil
	c.post(letter{kind: strategies.Admitted})
}

// quit takes c from its flight. If it leads, the first of those who follow does
// so from now on.
func (c *caller) quit() {
	f := c.flight
	c.flight = nil
	switch {
	case f == nil:
	case c.seat != nil:
		f.following.Remove(c.seat)
		c.seat = nil
	case f.following.Len() == 0:
		delete(f.table, f.key)
	default:
		f.leader = f.first()
		f.leader.post(letter{kind: strategies.Admitted})
	}
	for i := len(c.inbox) - 1; i >= 0; i-- { // what it has not heard is of no concern any more
		if l := &c.inbox[i]; l.kind == strategies.Joined || l.kind == strategies.Admitted && l.line == nil {
			c.drop(i)
		}
	}
}

// Mistakes of strategies.
var (
	errInLine   = errors.New("live: the strategy acquires for a call that stands in a line already")
	errInFlight = errors.New("live: the strategy joins a flight for a call that is in one already")
)
