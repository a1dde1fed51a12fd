package sim

import (
	"time"

	"herdlab/sim/des"
	"herdlab/strategies"
)

// wakeAt sets the wake-up of row i to the given time and replaces an earlier one.
func (r *run) wakeAt(i uint32, at time.Duration) {
	c := &r.calls[i]
	c.gen++
	c.state |= waking
	if r.dueAt != nil {
		r.dueAt[i] = at
	}
	if r.firesAt != nil {
		r.fireBy(i, at)
		return
	}
	r.queue.Push(des.Event{At: at, Ref: i, Gen: c.gen, Kind: evWake})
}

// fireBy makes the timer of row i fire at the given time at the latest. Hedges are
// planned with every attempt and seldom sent, so where strategies race a timer is
// moved when it fires: otherwise each call would leave a stale event.
func (r *run) fireBy(i uint32, at time.Duration) {
	if f := &r.firesAt[i]; *f < 0 || at < *f {
		*f = at
		r.queue.Push(des.Event{At: at, Ref: i, Kind: evWake})
	}
}

// wake ends the wait of row i.
func (r *run) wake(i uint32) {
	r.calls[i].state &^= waking
	r.decide(i, strategies.Event{Kind: strategies.Wake})
}

// wakeIfDue wakes the row of a wake-up unless the wake-up is stale, and reports
// whether it did.
//
// A stale wake-up has another generation, but generations have 16 bits: where
// waits can end early, as by a caller's patience, an event may outlive 65,536
// others. So the time of the wake-up must agree as well.
func (r *run) wakeIfDue(e des.Event) bool {
	if r.dueAt == nil || !r.isDue(e) {
		return false
	}
	r.wake(e.Ref)
	return true
}

// isDue reports whether a row waits for this wake-up, where waits can end early.
func (r *run) isDue(e des.Event) bool {
	due := r.dueAt[e.Ref]
	if r.firesAt == nil {
		return r.calls[e.Ref].gen == e.Gen && due == r.now
	}
	if r.firesAt[e.Ref] != r.now {
		return false // an earlier one has fired since
	}
	r.firesAt[e.Ref] = -1
	if due > r.now {
		r.fireBy(e.Ref, due)
	}
	return due == r.now
}
