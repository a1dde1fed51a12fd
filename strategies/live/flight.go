package live

import (
	"container/list"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// flight is a leading call and the equal calls that follow it, in order of
// arrival. It is guarded by Shared.mu.
type flight struct {
	table     map[flightKey]*flight
	key       flightKey
	keyed     bool // the stack defines which calls are equal
	leader    *callRun
	followers list.List // of *callRun
}

// flightKey is equal for calls of the same flight.
type flightKey struct{ table, key uint32 }

// join makes c a follower of the flight of equal calls, or the leader of a new one.
func (c *callRun) join(take strategies.Take) (leads bool) {
	t := c.t
	switch {
	case c.flight != nil:
		c.decisionErr = mistake(strategies.ErrInFlight)
		return false
	case int(take.Pool) >= len(t.program.Flights):
		c.decisionErr = mistake(strategies.ErrUnknownTable(take.Pool, len(t.program.Flights)))
		return false
	}
	spec := t.program.Flights[take.Pool]
	table, key := t.flights, flightKey{uint32(take.Pool), take.N}
	if spec.Scope == strategies.PerEveryone {
		table, key.table = t.shared.flights, spec.At
	}
	c.batch, c.batchIndex = nil, 0
	f := table[key]
	if f == nil {
		f = &flight{table: table, key: key, keyed: spec.Keyed, leader: c}
		table[key] = f
		c.flight = f
		return true
	}
	c.flight, c.following = f, f.followers.PushBack(c)
	return false
}

// Land implements strategies.Commands: it ends the flight that c leads. Followers
// get a copy of its reply if the reply is completely read.
func (c *callRun) Land(_ strategies.FlightID, _ uint32, end strategies.End) {
	f := c.flight
	switch {
	case f == nil || f.leader != c: // the followers have been released
	case end.Class == wire.Cancelled:
		c.leaveFlight()
	case end.Class == wire.OK && !c.last.complete():
		c.releaseFollowers()
	default:
		delete(f.table, f.key)
		c.flight = nil
		for f.followers.Len() > 0 {
			follower := f.followers.Front().Value.(*callRun)
			r, sent := c.replyFor(follower)
			if !sent || !f.keyed && follower.hash != c.hash {
				// Strategies compare 32 bits of the hash, which is not enough.
				follower.proceedAlone()
				continue
			}
			f.popFollower().flight = nil
			follower.post(message{kind: strategies.Joined, outcome: c.currentOutcome(end), end: end, reply: r, err: c.failure})
		}
	}
}

// popFollower removes the first follower and returns it.
func (f *flight) popFollower() *callRun {
	c := f.followers.Remove(f.followers.Front()).(*callRun)
	c.following = nil
	return c
}

// releaseFollowers ends the flight that c leads, if any, because its answer
// cannot be shared: each follower makes an attempt of its own.
func (c *callRun) releaseFollowers() {
	f := c.flight
	if f == nil || f.leader != c {
		return
	}
	delete(f.table, f.key)
	c.flight = nil
	for f.followers.Len() > 0 {
		f.followers.Front().Value.(*callRun).proceedAlone()
	}
}

// proceedAlone removes c from the flight that it follows, so that it sends its
// own request.
func (c *callRun) proceedAlone() {
	c.flight.followers.Remove(c.following)
	c.flight, c.following = nil, nil
	c.post(message{kind: strategies.Admitted})
}

// leaveFlight removes c from its flight. If c leads it, the first follower
// becomes the leader.
func (c *callRun) leaveFlight() {
	f := c.flight
	c.flight = nil
	switch {
	case f == nil:
	case c.following != nil:
		f.followers.Remove(c.following)
		c.following = nil
	case f.followers.Len() == 0:
		delete(f.table, f.key)
	default:
		f.leader = f.popFollower()
		f.leader.post(message{kind: strategies.Admitted})
	}
	for i := len(c.inbox) - 1; i >= 0; i-- { // messages of the flight are void now
		if m := &c.inbox[i]; m.kind == strategies.Joined || m.kind == strategies.Admitted && m.queue == nil {
			c.removeMessage(i)
		}
	}
}
