package sim

import (
	"fmt"
	"math"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/des"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// attempt is one row of the slab of attempts. A row is freed when the client has
// had the attempt's terminal event and the provider has replied or dropped the
// work.
//
// It identifies its call, because a request that its client abandons on the way
// arrives all the same, when the row of its call may hold another call.
type attempt struct {
	sent   time.Duration // when it was sent
	call   uint32        // the row of its call
	seq    uint32        // the number of its call
	number uint32
	next   uint32 // the call's next attempt in flight, as index+1
	target wire.Target
	fleet  uint8
	client bool // the client waits for it
	caused bool // by the strategy: a retry, a hedge or a late first attempt
	where  where
	heads  uint8 // number of heads of its reply on the way
}

// where is the progress of an attempt.
type where uint8

const (
	onTheWayUp   where = iota // it has not reached the provider
	atProvider                // the provider will reply to it or drop it
	onTheWayDown              // its reply is on the way
	finished                  // its reply has arrived, or there is none
)

// cancelled is the outcome of an attempt that its client abandoned.
var cancelled = wire.Outcome{Class: wire.Cancelled, RetryAfter: wire.NoHint}

// send puts an attempt of row i on the wire.
func (r *run) send(i uint32, c *call, f *fleet, timeout time.Duration) {
	if c.inFlight == math.MaxUint8 {
		r.mistake(f, strategies.ErrTooManyInFlight(int(c.inFlight)))
		return
	}
	c.attempts++
	c.inFlight++
	var at uint32
	if n := len(r.freeAtt); n > 0 {
		at = r.freeAtt[n-1]
		r.freeAtt = r.freeAtt[:n-1]
	} else {
		at = r.newAttempt()
	}
	a := &r.attempts[at]
	a.sent, a.call, a.seq, a.number, a.next = r.now, i, c.seq, c.attempts, c.flying
	a.target, a.fleet, a.client, a.where, a.heads = c.target, c.fleet, true, onTheWayUp, 0
	a.caused = c.attempts > 1 || r.now-c.born > metrics.Prompt
	c.flying = at + 1
	r.flight++
	r.rec.AttemptSent(c.attempts, c.inFlight > 1)
	if r.counts != nil {
		r.counts[c.fleet].Attempts++
	}
	if !f.uniform {
		r.asked[at] = r.demands[i]
	}
	if timeout > 0 || r.deadlines != nil {
		r.setDeadline(i, at, timeout)
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
	r.queue.Push(des.Event{At: saturating.Add(r.now, up), Ref: at, Kind: evArrive})
}

// newAttempt adds a row to the slab of attempts and to the slices beside it.
func (r *run) newAttempt() uint32 {
	r.attempts = append(r.attempts, attempt{})
	if r.demands != nil {
		r.asked = append(r.asked, wire.Demand{})
	}
	if r.deadlines != nil {
		r.deadlines = append(r.deadlines, 0)
	}
	return uint32(len(r.attempts) - 1)
}

// arrive hands an attempt to the provider.
func (r *run) arrive(at uint32) {
	a := &r.attempts[at]
	f := r.fleetAt[a.fleet]
	client, id := f.identify(a.call, a.seq)
	q := &r.input.Request
	if r.asking != f {
		r.asking = f
		q.Stream, q.Account, q.Address, q.Demand = f.Stream, f.Account, f.Address, f.size
	}
	q.Call, q.Attempt, q.Target = uint64(a.fleet)<<56^id, a.number, a.target
	if f.AccountPerClient {
		q.Account = f.Account + client
	}
	if f.AddressPerClient {
		q.Address = f.Address + client
	}
	if !f.uniform {
		q.Demand = r.asked[at]
	}
	r.rec.AttemptArrived(r.now)
	a.where = atProvider
	n := len(r.effects)
	r.step(wire.Arrive, at, 0)
	if a.caused && r.input.Faulted < 100 && noRoom(r.effects[n:], at) {
		r.rec.FoundNoRoom(r.now, 100-r.input.Faulted)
	}
	// If its client abandoned it on the way, the provider learns that next.
	if !a.client && !ends(r.effects[n:], at) {
		r.step(wire.Abandon, at, 0)
	}
}

// noRoom reports whether the effects of an arrival show that it was refused or,
// having none for it, that it is queued.
func noRoom(effects []wire.Effect, ticket uint32) bool {
	for i := range effects {
		if e := &effects[i]; e.Ticket == ticket {
			return e.Kind == wire.Replied && e.Reply.Class != wire.OK
		}
	}
	return true
}

// ends reports whether a ticket ends with one of the effects.
func ends(effects []wire.Effect, ticket uint32) bool {
	for i := range effects {
		switch e := &effects[i]; e.Kind {
		case wire.Replied, wire.Dropped, wire.LostConnection:
			if e.Ticket == ticket {
				return true
			}
		}
	}
	return false
}

// replied handles a reply of the provider: it delivers it, or sends it on its way.
func (r *run) replied(e *wire.Effect) {
	a := &r.attempts[e.Ticket]
	if a.where != atProvider {
		r.endedAgain(e.Ticket)
		return
	}
	r.rec.Replied(e.Reply.Class, e.Slot)
	if e.Cost|int64(e.Reply.Tokens) != 0 {
		r.rec.Charged(e.Cost, e.Reply.Tokens)
	}
	a.where = finished
	if !a.client {
		r.wasted(e)
		r.freeAttempt(e.Ticket)
		return
	}
	delay := e.After
	if f := r.fleetAt[a.fleet]; !f.instantDown {
		delay = f.way(a, delay)
	}
	if delay == 0 {
		r.deliver(e)
		return
	}
	a.where = onTheWayDown
	r.travel(e, delay)
}

// endedAgain stops a run if the provider ends a ticket that has ended.
func (r *run) endedAgain(ticket uint32) {
	r.err = fmt.Errorf("sim: at %v the provider ends ticket %d again; every ticket is answered or dropped, once", r.now, ticket)
}

// dropped handles an attempt that the provider will never answer. Its client
// notices only by a timeout.
func (r *run) dropped(e *wire.Effect) {
	a := &r.attempts[e.Ticket]
	if a.where != atProvider {
		r.endedAgain(e.Ticket)
		return
	}
	r.rec.Dropped(e.Slot)
	r.rec.Charged(e.Cost, e.Reply.Tokens)
	r.wasted(e)
	a.where = finished
	if !a.client {
		r.freeAttempt(e.Ticket)
	}
}

// endAttempt removes an attempt from its call's list and returns the row of the
// call, the number of the attempt and the time when it was sent. The attempt's row
// is freed if the provider has finished with it.
func (r *run) endAttempt(at uint32) (row, number uint32, sent time.Duration) {
	a := &r.attempts[at]
	c := &r.calls[a.call]
	link := &c.flying
	for *link != at+1 {
		link = &r.attempts[*link-1].next
	}
	*link = a.next
	c.inFlight--
	a.client = false
	r.flight--
	if a.where == finished && a.heads == 0 {
		r.freeAtt = append(r.freeAtt, at) // this is freeAttempt
	}
	return a.call, a.number, a.sent
}

// freeAttempt frees the row of a finished attempt, unless a head of its reply is
// on the way: the last head frees it then.
func (r *run) freeAttempt(at uint32) {
	if r.attempts[at].heads == 0 {
		r.freeAtt = append(r.freeAtt, at)
	}
}

// giveUp ends an attempt for its client and informs the provider, which may ignore
// that.
func (r *run) giveUp(at uint32, how metrics.Ending) (number uint32, sent time.Duration) {
	known := r.attempts[at].where == atProvider
	_, number, sent = r.endAttempt(at)
	r.rec.AttemptEnded(how)
	if known {
		r.step(wire.Abandon, at, 0)
	}
	return number, sent
}

// withdrawAll ends the attempts of a call that is over, with one event for each.
func (r *run) withdrawAll(i uint32) {
	for r.calls[i].flying != 0 {
		number, sent := r.giveUp(r.calls[i].flying-1, metrics.Cancelled)
		r.decide(i, strategies.Event{Kind: strategies.Settled, Attempt: number, Outcome: &cancelled, SentAt: sent})
	}
}

// abandon ends the attempt of row i with the given number by a decision of its
// strategy, and returns when it was sent. If no such attempt is in flight it
// reports false and stops the run.
func (r *run) abandon(i, number uint32) (sent time.Duration, ok bool) {
	for at := r.calls[i].flying; at != 0; at = r.attempts[at-1].next {
		if r.attempts[at-1].number == number {
			_, sent = r.giveUp(at-1, metrics.Cancelled)
			return sent, true
		}
	}
	f := r.fleetAt[r.calls[i].fleet]
	r.mistake(f, strategies.ErrNotInFlight(number))
	return 0, false
}
