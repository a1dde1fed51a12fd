package sim

import (
	"time"

	"herdlab/sim/des"
	"herdlab/strategies"
)

// place is the wait of a closed client's call for the client's own pool: eight
// bytes instead of a line and a waiter.
type place struct {
	n     uint32 // units it waits for; 0 if it does not
	pool  uint16 // index of the pool
	timer uint16 // generation of its timer
}

// rowOf returns the row of the client that line l belongs to.
func (p *poolOf) rowOf(l uint32) uint32 { return p.fleet.base + l - p.first }

func (r *run) acquirePrivate(i, at uint32, p *poolOf, n uint32) bool {
	ok, ready := p.spec.Pool.TryTake(r.now, r.memory(p, at), n)
	if ok {
		return true
	}
	if r.places == nil { // the first wait for a client's own pool
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

// leavePrivate ends the wait of row i for its client's own pool and reports
// whether there was one.
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
		r.revisit = append(r.revisit, at)
	}
}

func (r *run) privateReady(e des.Event, p *poolOf) bool {
	if r.places[p.rowOf(e.Ref)].timer != e.Gen {
		return false
	}
	r.admitPrivate(e.Ref, p)
	return true
}

// admitPrivate admits the call that waits for its client's own pool if the pool
// has enough units.
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
