package sim

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/des"
	"herdlab/sim/metrics"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// looks is when the two pending looks at a row's deadlines fire, 0 if there is
// none. Deadlines of one kind come in order as a rule, so a look is moved
// lazily, when it fires; and because a caller's patience and the timeouts of
// its attempts have a look each, neither leaves a trail of stale ones behind
// the other.
type looks [2]time.Duration

// The kinds of deadlines, as the generation of an evExpire tells them.
const (
	ofAttempts = iota
	ofCaller
)

// expireBy makes sure that row i is looked at when deadline comes.
func (r *run) expireBy(i uint32, deadline time.Duration, kind uint16) {
	if r.lookAt == nil {
		r.lookAt = make([]looks, len(r.calls))
	}
	if at := &r.lookAt[i][kind]; *at == 0 || deadline < *at {
		*at = deadline
		r.queue.Push(des.Event{At: deadline, Ref: i, Gen: kind, Kind: evExpire})
	}
}

// setDeadline gives an attempt of row i its timeout; 0 is none.
func (r *run) setDeadline(i, at uint32, timeout time.Duration) {
	if r.deadlines == nil {
		r.deadlines = make([]time.Duration, len(r.attempts))
	}
	if r.deadlines[at] = 0; timeout > 0 {
		r.deadlines[at] = saturating.Add(r.now, timeout)
		r.expireBy(i, r.deadlines[at], ofAttempts)
	}
}

// expire ends whatever has passed its deadline by now. It reports whether that
// was anything.
func (r *run) expire(e des.Event) bool {
	i := e.Ref
	if r.lookAt[i][e.Gen] != r.now {
		return false // an earlier look was taken since
	}
	r.lookAt[i][e.Gen] = 0
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
// which they were sent, which is the reverse of the list; each end may send
// another, whose deadline lies later.
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

// cancel withdraws a call whose caller has run out of patience.
func (r *run) cancel(i uint32) {
	c := &r.calls[i]
	if c.state&standing != 0 {
		r.leaveLine(i)
	}
	if r.seats != nil {
		r.unfollow(i)
	}
	c.state = 0 // from here on its strategy is only told
	r.withdrawAll(i)
	r.decide(i, strategies.Event{Kind: strategies.Cancelled})
	r.settle(i, metrics.Settlement{Withdrawn: true})
}
