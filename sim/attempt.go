package sim

import (
	"fmt"
	"math"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/des"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/strategies"
)

// attempt is one row of the slab of attempts under way. It is freed when both
// ends are done with it: the client when it has had the attempt's terminal
// event, the provider when it has replied or dropped the work.
//
// It also says whose request it is, because a request that its client gives up
// on the way arrives all the same, when the row of its call may hold another.
type attempt struct {
	deadline time.Duration // when the client stops waiting; 0 for never
	call     uint32        // the row of its call
	seq      uint32        // the number of its call
	number   uint32
	next     uint32 // the call's next attempt in flight, as index+1
	target   wire.Target
	fleet    uint8
	client   bool  // the client waits for it
	where    where // how far it has come
	heads    uint8 // how many heads of its reply travel
}

// where is how far an attempt has come.
type where uint8

const (
	onTheWayUp   where = iota // the provider does not know of it yet
	atProvider                // the provider will reply to it or drop it
	onTheWayDown              // its reply travels
	finished                  // nothing will come any more
)

// cancelled is the outcome of an attempt that its client gave up.
var cancelled = wire.Outcome{Class: wire.Cancelled, RetryAfter: wire.NoHint}

// send puts an attempt of row i on the wire.
func (r *run) send(i uint32, c *call, f *fleet, d strategies.Decision) {
	if c.inFlight == math.MaxUint8 {
		r.err = fmt.Errorf("sim: strategy %q sends an attempt although %d of the same call are in flight; bound its hedges", f.Program.Name, c.inFlight)
		return
	}
	c.attempts++
	c.inFlight++
	var at uint32
	if n := len(r.freeAtt); n > 0 {
		at = r.freeAtt[n-1]
		r.freeAtt = r.freeAtt[:n-1]
	} else {
		at = uint32(len(r.attempts))
		r.attempts = append(r.attempts, attempt{})
	}
	a := &r.attempts[at]
	a.deadline, a.call, a.seq, a.number, a.next = 0, i, c.seq, c.attempts, c.flying
	a.target, a.fleet, a.client, a.where, a.heads = c.target, c.fleet, true, onTheWayUp, 0
	if d.After > 0 {
		a.deadline = later(r.now, d.After)
	}
	c.flying = at + 1
	r.flight++
	r.rec.AttemptSent(c.attempts, c.inFlight > 1)
	if d.After > 0 {
		r.expireBy(i, a.deadline, ofAttempts)
	}
	up := f.Up.Mean
	switch {
	case f.instantUp:
		r.arrive(at)
		return
	case f.Up.Kind != draw.Constant:
		_, id := f.identify(i, c.seq)
		up = f.Up.Draw(f.rand.For(id), uint64(c.attempts)<<32|drawUp)
	}
	r.queue.Push(des.Event{At: later(r.now, up), Ref: at, Kind: evArrive})
}

// arrive hands an attempt to the provider.
func (r *run) arrive(at uint32) {
	a := &r.attempts[at]
	f := &r.fleets[a.fleet]
	client, id := f.identify(a.call, a.seq)
	q := &r.input.Request
	q.Call, q.Attempt, q.Target, q.Stream = uint64(a.fleet)<<56^id, a.number, a.target, f.Stream
	q.Account = f.Account
	if f.AccountPerClient {
		q.Account += client
	}
	q.Demand = f.demand(a.seq)
	r.rec.AttemptArrived(r.now)
	a.where = atProvider
	r.step(wire.Arrive, at, 0)
}

// replied takes a reply from the provider and brings it to its client.
func (r *run) replied(e *wire.Effect) {
	a := &r.attempts[e.Ticket]
	if a.where != atProvider {
		r.endedAgain(e.Ticket)
		return
	}
	r.rec.Replied(e.Reply.Class, e.Slot)
	a.where = finished
	if !a.client {
		r.rec.Wasted(e.Slot)
		r.freeAttempt(e.Ticket)
		return
	}
	delay := e.After
	if f := &r.fleets[a.fleet]; !f.instantDown {
		delay = f.way(a, delay)
	}
	if delay == 0 {
		r.deliver(e.Ticket, &e.Reply, e.Slot)
		return
	}
	a.where = onTheWayDown
	r.travel(e, delay)
}

// endedAgain stops a run whose provider ends a ticket that it does not hold.
func (r *run) endedAgain(ticket uint32) {
	r.err = fmt.Errorf("sim: at %v the provider ends ticket %d again; every ticket is answered or dropped, once", r.now, ticket)
}

// deliver brings a reply to the client that waits for it.
func (r *run) deliver(at uint32, rep *wire.Reply, slot time.Duration) {
	i, number := r.endAttempt(at)
	c := &r.calls[i]
	f := &r.fleets[c.fleet]
	f.reader.Read(rep, f.clock(r.now, i, c.seq), &r.outcome)
	if rep.Class == wire.OK {
		r.rec.AttemptEnded(metrics.Answered)
		r.calls[i].state |= answered
	} else {
		r.rec.AttemptEnded(metrics.Refused)
	}
	if rep.Class != wire.OK || !r.outcome.OK() {
		r.rec.Wasted(slot) // an error after work, or an answer taken for one
	}
	r.decide(i, strategies.Event{Kind: strategies.Reply, Attempt: number, Outcome: &r.outcome})
}

// dropped notes that the provider will never answer an attempt. Its client
// learns of it from its own timeout only.
func (r *run) dropped(e *wire.Effect) {
	a := &r.attempts[e.Ticket]
	if a.where != atProvider {
		r.endedAgain(e.Ticket)
		return
	}
	r.rec.Dropped(e.Slot)
	r.rec.Wasted(e.Slot)
	a.where = finished
	if !a.client {
		r.freeAttempt(e.Ticket)
	}
}

// endAttempt takes an attempt from its call's list and returns whose it was;
// the row is freed if the provider is done with it too.
func (r *run) endAttempt(at uint32) (row, number uint32) {
	a := &r.attempts[at]
	row, number = a.call, a.number
	c := &r.calls[row]
	link := &c.flying
	for *link != at+1 {
		link = &r.attempts[*link-1].next
	}
	*link = a.next
	c.inFlight--
	a.client = false
	r.flight--
	if a.where == finished {
		r.freeAttempt(at)
	}
	return row, number
}

// freeAttempt frees a row that both ends are done with, unless a head of its
// reply still travels; the last of them frees it then.
func (r *run) freeAttempt(at uint32) {
	if r.attempts[at].heads == 0 {
		r.freeAtt = append(r.freeAtt, at)
	}
}

// giveUp ends an attempt that its client no longer waits for; the provider
// hears of it, and may or may not care.
func (r *run) giveUp(at uint32, how metrics.Ending) (row, number uint32) {
	known := r.attempts[at].where == atProvider
	row, number = r.endAttempt(at)
	r.rec.AttemptEnded(how)
	if known {
		r.step(wire.Abandon, at, 0)
	}
	return row, number
}

// withdrawAll ends the attempts of a call that is over; its strategy hears of
// each.
func (r *run) withdrawAll(i uint32) {
	for r.calls[i].flying != 0 {
		_, number := r.giveUp(r.calls[i].flying-1, metrics.Withdrawn)
		r.decide(i, strategies.Event{Kind: strategies.Settled, Attempt: number, Outcome: &cancelled})
	}
}

// abandon ends attempt number of row i because its strategy says so. It
// reports false, and stops the run, if there is no such attempt in flight.
func (r *run) abandon(i, number uint32) bool {
	for at := r.calls[i].flying; at != 0; at = r.attempts[at-1].next {
		if r.attempts[at-1].number == number {
			r.giveUp(at-1, metrics.Withdrawn)
			return true
		}
	}
	f := &r.fleets[r.calls[i].fleet]
	r.err = fmt.Errorf("sim: strategy %q abandons attempt %d, which is not in flight", f.Program.Name, number)
	return false
}
