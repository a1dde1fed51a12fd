package sim

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/des"
	"herdlab/sim/metrics"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// checks are the times of the two pending checks of a row's deadlines, 0 for
// none. Deadlines of one kind are mostly in order, so a check is moved when it
// fires. A caller's patience and the timeouts of its attempts have one check each,
// so that neither leaves stale events because of the other.
type checks [2]time.Duration

// The kinds of deadlines: the generation of an evExpire.
const (
	ofAttempts = iota
	ofCaller
)

// expireBy makes a check of row i fire at the deadline at the latest.
func (r *run) expireBy(i uint32, deadline time.Duration, kind uint16) {
	if r.checkAt == nil {
		r.checkAt = make([]checks, len(r.calls))
	}
	if at := &r.checkAt[i][kind]; *at == 0 || deadline < *at {
		*at = deadline
		r.queue.Push(des.Event{At: deadline, Ref: i, Gen: kind, Kind: evExpire})
	}
}

// setDeadline sets the timeout of an attempt of row i; 0 means none.
func (r *run) setDeadline(i, at uint32, timeout time.Duration) {
	if r.deadlines == nil {
		r.deadlines = make([]time.Duration, len(r.attempts))
	}
	if r.deadlines[at] = 0; timeout > 0 {
		r.deadlines[at] = saturating.Add(r.now, timeout)
		r.expireBy(i, r.deadlines[at], ofAttempts)
	}
}

// expire ends the call or the attempts of a row that have passed their deadline
// and reports whether there were any.
func (r *run) expire(e des.Event) bool {
	i := e.Ref
	if r.checkAt[i][e.Gen] != r.now {
		return false // an earlier check has fired since
	}
	r.checkAt[i][e.Gen] = 0
	c := &r.calls[i]
	if c.state&active == 0 {
		return false
	}
	f := r.fleetAt[c.fleet]
	if f.Patience > 0 {
		if until := saturating.Add(c.born, f.Patience); until <= r.now {
			r.cancel(i)
			return true
		} else if e.Gen == ofCaller {
			r.expireBy(i, until, ofCaller)
			return false
		}
	}
	return r.deadlines != nil && r.expireAttempts(i)
}

// expireAttempts ends the attempts of row i that are due, in the order in
// which they were sent, the reverse of the list. The strategy may send another
// attempt each time, with a later deadline.
func (r *run) expireAttempts(i uint32) (any bool) {
	for r.calls[i].state&active != 0 {
		due, next := uint32(0), time.Duration(0)
		for at := r.calls[i].flying; at != 0; at = r.attempts[at-1].next {
			switch d := r.deadlines[at-1]; {
			case d == 0:
			case d <= r.now:
				due = at
			case next == 0 || d < next:
				next = d
			}
		}
		if due == 0 {
			if next > 0 {
				r.expireBy(i, next, ofAttempts)
			}
			break
		}
		any = true
		number, sent := r.giveUp(due-1, metrics.TimedOut)
		r.outcome = wire.Outcome{Class: wire.Timeout, RetryAfter: wire.NoHint}
		r.failed(i, due-1, strategies.Event{Kind: strategies.Expired, Attempt: number, Outcome: &r.outcome, SentAt: sent})
	}
	return any
}

// cancel ends a call at the end of its caller's patience.
func (r *run) cancel(i uint32) {
	c := &r.calls[i]
	if c.state&standing != 0 {
		r.leaveLine(i)
	}
	if r.members != nil {
		r.unfollow(i)
	}
	c.state = 0 // the call is over: further decisions do not count
	r.withdrawAll(i)
	r.decide(i, strategies.Event{Kind: strategies.Cancelled})
	r.settle(i, metrics.Settlement{Cancelled: true})
}
