package sim

import (
	"herdlab/mockprovider/wire"
	"herdlab/sim/metrics"
	"herdlab/strategies"
)

// deliver ends an attempt for its client with a reply.
func (r *run) deliver(e *wire.Effect) {
	i, number, sent := r.endAttempt(e.Ticket)
	rep := &e.Reply
	c := &r.calls[i]
	f := r.fleetAt[c.fleet]
	if f.byBody { // the usual reader, called without an interface
		wire.ByBody{}.Read(rep, f.clock(r.now, i, c.seq), &r.outcome)
	} else {
		f.reader.Read(rep, f.clock(r.now, i, c.seq), &r.outcome)
	}
	useful := rep.Class == wire.OK
	if useful {
		r.rec.AttemptEnded(metrics.Answered)
	} else {
		r.rec.AttemptEnded(metrics.Refused)
		if r.counts != nil {
			r.counts[c.fleet].Refused++
		}
	}
	if !useful || !r.outcome.OK() {
		r.wasted(e) // an error after work, or an answer taken for one
		if r.rec.Sampled() {
			r.sample(e.Ticket, rep.Class)
		}
	} else if c.state&answered != 0 {
		r.wasted(e) // a second answer is not used
	}
	if rep.Tokens > 0 {
		r.brought(i, rep.Tokens, useful)
	}
	if useful {
		c.state = (c.state | answered) &^ (lesser | shared)
		if rep.Marks&wire.DegradedReply != 0 {
			c.state |= lesser
		}
	}
	r.decide(i, strategies.Event{Kind: strategies.Reply, Attempt: number, Outcome: &r.outcome, SentAt: sent})
}

// wasted records that the work of an attempt was not used.
func (r *run) wasted(e *wire.Effect) {
	r.rec.Wasted(e.Slot)
	if e.Cost|int64(e.Reply.Tokens) != 0 {
		r.rec.WastedCharge(e.Cost, e.Reply.Tokens)
	}
}

// brought records the output tokens that an attempt brought to the client of row
// i; tokens that a failed attempt had brought are repeated.
func (r *run) brought(i, tokens uint32, whole bool) {
	if r.had == nil {
		if whole {
			return
		}
		r.had = make([]uint32, len(r.calls))
	}
	had := &r.had[i]
	if again := min(*had, tokens); again > 0 {
		r.rec.Repeated(again)
	}
	*had = max(*had, tokens)
}

// sample records an attempt that has just failed; its row is free, but not used
// again yet.
func (r *run) sample(at uint32, truth wire.Class) {
	a := &r.attempts[at]
	f := r.fleetAt[a.fleet]
	client, id := f.identify(a.call, a.seq)
	demand := f.size
	if !f.uniform {
		demand = r.asked[at]
	}
	r.rec.Sample(metrics.Failure{
		At: r.now, Fleet: int(a.fleet), Client: client, Call: id, Attempt: a.number, SentAt: a.sent,
		Target: a.target, Demand: demand, Truth: truth, Outcome: r.outcome,
	})
}
