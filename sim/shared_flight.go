package sim

import (
	"fmt"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// flight is a call that leads and the equal calls that follow it, in the order of
// their arrival.
type flight struct {
	key        flightKey
	leader     uint32 // the leader's row, as index+1; 0 once the flight has landed
	head, tail uint32 // the followers, as index+1
	// How the flight ended, for the followers.
	end     strategies.End
	outcome wire.Outcome
	useful  bool
}

// flightKey is equal for equal calls: those of one table, of one client if the
// table is per client, with the same prompt.
type flightKey struct{ table, client, asks uint32 }

// membership is a call's place in a flight.
type membership struct {
	flight     uint32 // as index+1; 0 for none
	prev, next uint32 // neighbours among the followers, as index+1
}

const (
	// flightMark marks a flight in the list of lines and flights to revisit.
	flightMark = 1 << 31
	// commonTable marks a table that everyone shares.
	commonTable = 1 << 31
)

// addTables numbers the tables of f's flights.
func (r *run) addTables(f *fleet) {
	for id, spec := range f.Program.Flights {
		table := uint32(f.index)<<16 | uint32(id)
		if spec.Scope == strategies.PerEveryone {
			table = commonTable | spec.At
		}
		f.tables = append(f.tables, table)
	}
}

// join makes row i follow the flight of an equal call, or lead one if there is
// none.
func (r *run) join(i uint32, f *fleet, client uint32, t strategies.Take) (leads bool) {
	if r.members == nil { // the first call that joins a flight
		r.members = make([]membership, len(r.calls))
		r.flightOf = map[flightKey]uint32{}
	}
	s := &r.members[i]
	switch {
	case s.flight != 0:
		r.mistake(f, strategies.ErrInFlight)
		return false
	case int(t.Pool) >= len(f.tables):
		r.mistake(f, strategies.ErrUnknownTable(t.Pool, len(f.tables)))
		return false
	}
	key := flightKey{table: f.tables[t.Pool], asks: t.N}
	if f.Program.Flights[t.Pool].Scope == strategies.PerClient {
		key.client = client
	}
	at, under := r.flightOf[key]
	if !under {
		at = r.newFlight()
		r.flights[at] = flight{key: key, leader: i + 1}
		r.flightOf[key] = at
		s.flight = at + 1
		return true
	}
	l := &r.flights[at]
	*s = membership{flight: at + 1, prev: l.tail}
	if l.tail == 0 {
		l.head = i + 1
	} else {
		r.members[l.tail-1].next = i + 1
	}
	l.tail = i + 1
	r.calls[i].state |= following
	return false
}

func (r *run) newFlight() uint32 {
	if n := len(r.freeFlt); n > 0 {
		at := r.freeFlt[n-1]
		r.freeFlt = r.freeFlt[:n-1]
		return at
	}
	r.flights = append(r.flights, flight{})
	return uint32(len(r.flights) - 1)
}

// Land implements strategies.Commands for the call in view.
func (r *run) Land(_ strategies.FlightID, _ uint32, end strategies.End) {
	i := r.viewRow
	if !r.leads(i) {
		r.err = fmt.Errorf("sim: strategy %q lands a flight that its call does not lead", r.viewFleet.Program.Name)
		return
	}
	if end.Class == wire.Cancelled {
		r.passOn(i)
		return
	}
	at := r.members[i].flight - 1
	l := &r.flights[at]
	r.members[i] = membership{}
	delete(r.flightOf, l.key)
	if l.leader = 0; l.head == 0 {
		r.freeFlt = append(r.freeFlt, at)
		return
	}
	l.end, l.useful = end, r.calls[i].state&answered != 0
	l.outcome = wire.Outcome{Class: end.Class, RetryAfter: wire.NoHint}
	switch r.viewKind {
	case strategies.Reply, strategies.Lost, strategies.Expired, strategies.Joined:
		l.outcome = r.outcome
	}
	r.revisit = append(r.revisit, at|flightMark)
}

// leads reports whether row i leads a flight.
func (r *run) leads(i uint32) bool {
	return r.members != nil && r.members[i].flight != 0 && r.flights[r.members[i].flight-1].leader == i+1
}

// passOn makes the first follower the leader of the flight that row i leads; a
// flight without followers ends.
func (r *run) passOn(i uint32) {
	at := r.members[i].flight - 1
	l := &r.flights[at]
	r.members[i] = membership{}
	if l.leader = l.head; l.head == 0 {
		delete(r.flightOf, l.key)
		r.freeFlt = append(r.freeFlt, at)
		return
	}
	r.calls[l.head-1].state &^= following
	r.unlink(l, l.head-1)
	r.revisit = append(r.revisit, at|flightMark)
}

// unlink removes row i from the followers of l.
func (r *run) unlink(l *flight, i uint32) {
	s := &r.members[i]
	if s.prev != 0 {
		r.members[s.prev-1].next = s.next
	} else {
		l.head = s.next
	}
	if s.next != 0 {
		r.members[s.next-1].prev = s.prev
	} else {
		l.tail = s.prev
	}
	s.prev, s.next = 0, 0
}

// landed has the followers of a flight decide: all of them if it has landed, and
// else the new leader.
func (r *run) landed(at uint32) {
	if leader := r.flights[at].leader; leader != 0 {
		r.decide(leader-1, strategies.Event{Kind: strategies.Admitted})
		return
	}
	for r.flights[at].head != 0 && r.err == nil {
		l := &r.flights[at] // flights may have moved
		i := l.head - 1
		r.unlink(l, i)
		r.members[i] = membership{}
		c := &r.calls[i]
		c.state &^= following
		if l.useful {
			c.state |= answered | shared
		}
		r.outcome, r.view.Joined = l.outcome, l.end
		r.decide(i, strategies.Event{Kind: strategies.Joined, Outcome: &r.outcome})
	}
	r.freeFlt = append(r.freeFlt, at)
}

// leaveFlight removes row i, whose call is over, from its flight.
func (r *run) leaveFlight(i uint32) {
	if r.leads(i) {
		r.passOn(i)
	}
	r.unfollow(i)
}

// unfollow removes row i from the flight that it follows.
func (r *run) unfollow(i uint32) {
	if r.calls[i].state&following == 0 {
		return
	}
	r.calls[i].state &^= following
	r.unlink(&r.flights[r.members[i].flight-1], i)
	r.members[i] = membership{}
}
