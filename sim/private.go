package sim

import (
	"time"

	"herdlab/sim/des"
	"herdlab/strategies"
)

// place is where a closed client's call stands before a pool of its own: eight
// bytes instead of a line and a waiter.
type place struct {
	n     uint32 // units it waits for; 0 if it does not
	pool  uint16 // which pool, as index
	timer uint16 // generation of its timer
}

// rowOf is the row of the client whose line l is.
func (p *poolOf) rowOf(l uint32) uint32 { return p.fleet.base + l - p.first }

func (r *run) acquirePrivate(i, at uint32, p *poolOf, n uint32) bool {
	ok, ready := p.spec.Pool.TryTake(r.now, r.memory(p, at), n)
	if ok {
		return true
	}
	if r.places == nil { // the first to wait for a pool of its own
		r.places = make([]place, len(r.calls))
	}
	r.calls[i].state |= standing
	w := &r.places[i]
	w.n, w.pool = n, p.index
	r.armPrivate(w, at, ready)
	return false
}

func (r *run) armPrivate(w *place, at uint32, ready time.Duration) {
	w.timer++
	if ready != strategies.Never {
		ready = max(ready, r.now+1)
		r.queue.Push(des.Event{At: ready, Ref: at, Gen: w.timer, Kind: evPool})
	}
}

// leavePrivate takes row i from its place and reports whether it had one.
func (r *run) leavePrivate(i uint32) bool {
	if int(i) >= len(r.places) || r.places[i].n == 0 {
		return false
	}
	r.places[i].n = 0
	r.places[i].timer++
	return true
}

func (r *run) putPrivate(at uint32, p *poolOf) {
	i := p.rowOf(at)
	if r.calls[i].state&standing != 0 && int(i) < len(r.places) && r.places[i].n > 0 && r.places[i].pool == p.index {
		r.kicked = append(r.kicked, at)
	}
}

func (r *run) privateReady(e des.Event, p *poolOf) bool {
	if r.places[p.rowOf(e.Ref)].timer != e.Gen {
		return false
	}
	r.admitPrivate(e.Ref, p)
	return true
}

// admitPrivate lets in the call that stands before its client's own pool, if
// the units are there.
func (r *run) admitPrivate(at uint32, p *poolOf) {
	i := p.rowOf(at)
	w := &r.places[i]
	if w.n == 0 || w.pool != p.index {
		return
	}
	ok, ready := p.spec.Pool.TryTake(r.now, r.memory(p, at), w.n)
	if !ok {
		r.armPrivate(w, at, ready)
		return
	}
	w.n = 0
	w.timer++
	r.calls[i].state &^= standing
	r.decide(i, strategies.Event{Kind: strategies.Admitted})
}
