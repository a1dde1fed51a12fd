package sim

import (
	"fmt"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// flight is one call that leads, and the equal calls that follow it, first
// come first.
type flight struct {
	key        flightKey
	leader     uint32 // its row, as index+1; 0 once it has landed
	head, tail uint32 // the followers, as index+1
	// How it landed: what becomes of the followers.
	end     strategies.End
	outcome wire.Outcome
	useful  bool
}

// flightKey says which calls are equal: they meet in one table, are of one
// client if the table is per client, and ask the same.
type flightKey struct{ table, client, asks uint32 }

// seat is a call's place in a flight.
type seat struct {
	flight     uint32 // as index+1; 0 if it is in none
	prev, next uint32 // neighbours among the followers, as index+1
}

const (
	// flightMark tells flights from lines among what is to be looked at.
	flightMark = 1 << 31
	// commonTable tells tables that everyone shares from those of fleets.
	commonTable = 1 << 31
)

// addTables names the tables of f's flights.
func (r *run) addTables(f *fleet) {
	for id, spec := range f.Program.Flights {
		table := uint32(f.index)<<16 | uint32(id)
		if spec.Scope == strategies.PerEveryone {
			table = commonTable | spec.At
		}
		f.tables = append(f.tables, table)
	}
}

// join has row i follow the equal call under way, or lead if there is none.
func (r *run) join(i uint32, f *fleet, client uint32, t strategies.Take) (leads bool) {
	if r.seats == nil { // the first to join anything
		r.seats = make([]seat, len(r.calls))
		r.flightOf = map[flightKey]uint32{}
	}
	s := &r.seats[i]
	switch {
	case s.flight != 0:
		r.err = fmt.Errorf("sim: strategy %q joins a flight for a call that is in one already", f.Program.Name)
		return false
	case int(t.Pool) >= len(f.tables):
		r.err = fmt.Errorf("sim: strategy %q joins flights of table %d, and has %d", f.Program.Name, t.Pool, len(f.tables))
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
	*s = seat{flight: at + 1, prev: l.tail}
	if l.tail == 0 {
		l.head = i + 1
	} else {
		r.seats[l.tail-1].next = i + 1
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
	at := r.seats[i].flight - 1
	l := &r.flights[at]
	r.seats[i] = seat{}
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
	r.kicked = append(r.kicked, at|flightMark)
}

// leads reports whether row i leads a flight.
func (r *run) leads(i uint32) bool {
	return r.seats != nil && r.seats[i].flight != 0 && r.flights[r.seats[i].flight-1].leader == i+1
}

// passOn takes the lead of a flight from row i and gives it to the first who
// follows, if anybody does.
func (r *run) passOn(i uint32) {
	at := r.seats[i].flight - 1
	l := &r.flights[at]
	r.seats[i] = seat{}
	if l.leader = l.head; l.head == 0 {
		delete(r.flightOf, l.key)
		r.freeFlt = append(r.freeFlt, at)
		return
	}
	r.calls[l.head-1].state &^= following
	r.unlink(l, l.head-1)
	r.kicked = append(r.kicked, at|flightMark)
}

// unlink takes row i from those who follow l.
func (r *run) unlink(l *flight, i uint32) {
	s := &r.seats[i]
	if s.prev != 0 {
		r.seats[s.prev-1].next = s.next
	} else {
		l.head = s.next
	}
	if s.next != 0 {
		r.seats[s.next-1].prev = s.prev
	} else {
		l.tail = s.prev
	}
	s.prev, s.next = 0, 0
}

// landed tells those who followed a flight what has become of it: that it has
// landed, or that the first of them leads now.
func (r *run) landed(at uint32) {
	if leader := r.flights[at].leader; leader != 0 {
		r.decide(leader-1, strategies.Event{Kind: strategies.Admitted})
		return
	}
	for r.flights[at].head != 0 && r.err == nil {
		l := &r.flights[at] // flights may have moved
		i := l.head - 1
		r.unlink(l, i)
		r.seats[i] = seat{}
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

// leaveFlight takes row i, whose call is over, from its flight.
func (r *run) leaveFlight(i uint32) {
	if r.leads(i) {
		r.passOn(i)
	}
	r.unfollow(i)
}

// unfollow takes row i from those who follow another call.
func (r *run) unfollow(i uint32) {
	if r.calls[i].state&following == 0 {
		return
	}
	r.calls[i].state &^= following
	r.unlink(&r.flights[r.seats[i].flight-1], i)
	r.seats[i] = seat{}
}
