package live

import (
	"slices"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// flight is one call that leads and the equal calls that follow it, first come
// first. It is guarded by Everyone.mu.
type flight struct {
	key       flightKey
	leader    *caller
	following []*caller
}

// flightKey says which calls are equal.
type flightKey struct{ table, asks uint32 }

// flightsOf returns the table of a program's flights.
func (t *Transport) flightsOf(id strategies.FlightID, asks uint32) (map[flightKey]*flight, flightKey) {
	spec := t.program.Flights[id]
	if spec.Scope == strategies.PerEveryone {
		return t.everyone.flights, flightKey{spec.At, asks}
	}
	return t.flights, flightKey{uint32(id), asks}
}

// join has c follow the equal call under way, or lead if there is none.
func (c *caller) join(take strategies.Take) (leads bool) {
	table, key := c.t.flightsOf(strategies.FlightID(take.Pool), take.N)
	f := table[key]
	if f == nil {
		f = &flight{key: key, leader: c}
		table[key] = f
		c.flight = f
		return true
	}
	f.following = append(f.following, c)
	c.flight = f
	return false
}

// Land implements strategies.Asides: the flight that c leads is over. Followers
// get a copy of its reply if all of it is there; where it is not, as with a
// stream, each goes its own way.
func (c *caller) Land(id strategies.FlightID, key uint32, end strategies.End) {
	f := c.flight
	if f == nil || f.leader != c {
		return
	}
	table, k := c.t.flightsOf(id, key)
	c.flight = nil
	if end.Class == wire.Cancelled || end.Class == wire.OK && !c.last.whole() {
		c.passOn(table, k, f)
		return
	}
	delete(table, k)
	for _, follower := range f.following {
		follower.flight = nil
		follower.post(letter{kind: strategies.Joined, outcome: c.outcomeNow(end), end: end, reply: c.last.copied()})
	}
}

// passOn gives the lead of a flight to the first who follows.
func (c *caller) passOn(table map[flightKey]*flight, key flightKey, f *flight) {
	if len(f.following) == 0 {
		delete(table, key)
		return
	}
	f.leader = f.following[0]
	f.following = slices.Delete(f.following, 0, 1)
	f.leader.post(letter{kind: strategies.Admitted})
}

// unfollow takes c from the flight that it follows.
func (c *caller) unfollow() {
	f := c.flight
	if f == nil || f.leader == c {
		return
	}
	c.flight = nil
	if i := slices.Index(f.following, c); i >= 0 {
		f.following = slices.Delete(f.following, i, i+1)
	}
}

// outcomeNow is the outcome of the event that c decides on.
func (c *caller) outcomeNow(end strategies.End) wire.Outcome {
	if c.event.Outcome != nil {
		return *c.event.Outcome
	}
	return wire.Outcome{Class: end.Class, RetryAfter: wire.NoHint}
}
