package sim

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/des"
	"herdlab/sim/metrics"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// way returns the delay until a reply that leaves the provider after the given
// time reaches a's client. The network delay is the same for all parts of one
// reply, so they arrive in order.
func (f *fleet) way(a *attempt, after time.Duration) time.Duration {
	_, id := f.identify(a.call, a.seq)
	return saturating.Add(after, f.Down.Draw(f.rand.For(id), uint64(a.number)<<32|drawDown))
}

// travel schedules the arrival of a reply, a head or a lost connection at the
// client.
func (r *run) travel(e *wire.Effect, delay time.Duration) {
	var at uint32
	if n := len(r.freeRep); n > 0 {
		at = r.freeRep[n-1]
		r.freeRep = r.freeRep[:n-1]
	} else {
		at = uint32(len(r.transit))
		r.transit = append(r.transit, wire.Effect{})
	}
	r.transit[at] = *e
	r.queue.Push(des.Event{At: saturating.Add(r.now, delay), Ref: at, Kind: evReply})
}

// deliverTransit delivers an effect whose way is over. Its handler reads it before
// another effect can take its place.
func (r *run) deliverTransit(at uint32) {
	e := &r.transit[at]
	r.freeRep = append(r.freeRep, at)
	a := &r.attempts[e.Ticket]
	if e.Kind == wire.Head {
		a.heads--
		r.deliverHead(e)
		return
	}
	a.where = finished
	switch {
	case !a.client:
		r.wasted(e)
		r.freeAttempt(e.Ticket)
	case e.Kind == wire.LostConnection:
		r.lose(e)
	default:
		r.deliver(e)
	}
}

// broke handles a connection that is lost on the provider's side; the client
// notices when a reply would have arrived.
func (r *run) broke(e *wire.Effect) {
	a := &r.attempts[e.Ticket]
	if a.where != atProvider {
		r.endedAgain(e.Ticket)
		return
	}
	r.rec.Dropped(e.Slot)
	r.rec.Charged(e.Cost, e.Reply.Tokens)
	a.where = finished
	if !a.client {
		r.wasted(e)
		r.freeAttempt(e.Ticket)
		return
	}
	if delay := r.fleetAt[a.fleet].way(a, e.After); delay > 0 {
		a.where = onTheWayDown
		r.travel(e, delay)
		return
	}
	r.lose(e)
}

// lose ends an attempt for its client with a lost connection.
func (r *run) lose(e *wire.Effect) {
	at, tokens := e.Ticket, e.Reply.Tokens
	i, number, sent := r.endAttempt(at)
	r.rec.AttemptEnded(metrics.ConnectionLost)
	r.wasted(e)
	if tokens > 0 {
		r.brought(i, tokens, false)
	}
	r.outcome = wire.Outcome{Class: wire.ConnectionLost, RetryAfter: wire.NoHint, Tokens: tokens, Begun: tokens > 0}
	r.failed(i, at, strategies.Event{Kind: strategies.Lost, Attempt: number, Outcome: &r.outcome, SentAt: sent})
}

// failed has row i decide on an attempt that failed without a reply.
func (r *run) failed(i, at uint32, e strategies.Event) {
	if r.rec.Sampled() {
		r.sample(at, r.outcome.Class)
	}
	r.decide(i, e)
}

// head handles the head of a streamed reply from the provider.
func (r *run) head(e *wire.Effect) {
	a := &r.attempts[e.Ticket]
	if !a.client {
		return
	}
	if delay := r.fleetAt[a.fleet].way(a, e.After); delay > 0 {
		a.heads++ // its row must not be reused before the head has arrived
		r.travel(e, delay)
		return
	}
	r.deliverHead(e)
}

// deliverHead delivers a head, unless the client has abandoned the attempt.
func (r *run) deliverHead(e *wire.Effect) {
	at := e.Ticket
	a := &r.attempts[at]
	if !a.client {
		if a.where == finished {
			r.freeAttempt(at)
		}
		return
	}
	f := r.fleetAt[a.fleet]
	f.reader.Read(&e.Reply, f.clock(r.now, a.call, a.seq), &r.outcome)
	r.decide(a.call, strategies.Event{Kind: strategies.Head, Attempt: a.number, Outcome: &r.outcome, SentAt: a.sent})
}
