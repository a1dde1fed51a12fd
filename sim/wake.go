package sim

import (
	"time"

	"herdlab/sim/des"
	"herdlab/strategies"
)

// wakeAt sets the timer of row i: its wake-up is due at that time, and at no
// other.
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

// fireBy makes sure that the timer of row i is looked at by then. A hedge is
// planned with every attempt and seldom made, so where anybody races timers are
// moved lazily, when they fire: otherwise each call would leave a stale one
// behind.
func (r *run) fireBy(i uint32, at time.Duration) {
	if f := &r.firesAt[i]; *f < 0 || at < *f {
		*f = at
		r.queue.Push(des.Event{At: at, Ref: i, Kind: evWake})
	}
}

// wake tells row i that its time has come.
func (r *run) wake(i uint32) {
	r.calls[i].state &^= waking
	r.decide(i, strategies.Event{Kind: strategies.Wake})
}

// wakeIfDue wakes the row of a wake-up unless that is of a wait that is over. It
// reports whether it did.
//
// The generation of a wake-up tells, but has 16 bits; where waits can be cut
// short, as by a caller's patience, one may outlive 65,536 others, so the time
// when the row is due has to agree.
func (r *run) wakeIfDue(e des.Event) bool {
	if r.dueAt == nil || !r.isDue(e) {
		return false
	}
	r.wake(e.Ref)
	return true
}

// isDue reports whether a wake-up is what its row waits for, where waits can be
// cut short.
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
