package sim

import (
	"time"

	"herdlab/sim/des"
	"herdlab/strategies"
)

// line is the queue of calls that wait for one pool, first come, first served,
// with one timer for its head. A pool per client has one line for each client.
type line struct {
	head, tail uint32 // rows of calls, as index+1
	timer      uint16 // generation of the head's timer
}

// waiter is a call's place in a line.
type waiter struct {
	prev, next uint32 // neighbours, as index+1
	line       uint32 // its line, as index+1; 0 if none
	n          uint32 // units it waits for
}

// poolOf is a pool and its lines, which are numbered so that pool and memory
// follow from the number.
type poolOf struct {
	index        uint16 // among the run's pools
	first, count uint32 // its lines
	standing     uint32 // number of calls in all of them
	// private pools belong to closed clients. A line never has more than the
	// client's one call, so no lines are kept: see client_pool.go.
	private bool
	spec    strategies.PoolSpec
	fleet   *fleet // nil if everyone shares the pool
}

// addLines makes the lines of f's pools. Pools shared by everyone are the same
// pool if they have the same memory.
func (r *run) addLines(f *fleet) {
	for _, spec := range f.Program.Pools {
		p := poolOf{index: uint16(len(r.pools)), first: r.numLines, count: 1, spec: spec, fleet: f}
		switch spec.Scope {
		case strategies.PerClient:
			p.count = uint32(f.Traffic.Clients)
			p.private = !f.open
		case strategies.PerEveryone:
			p.fleet = nil
			if shared, ok := r.sharedPool(spec.At); ok {
				f.pools = append(f.pools, shared)
				continue
			}
		}
		f.pools = append(f.pools, p.index)
		r.pools = append(r.pools, p)
		r.numLines += p.count
	}
}

func (r *run) sharedPool(at uint32) (index uint16, ok bool) {
	for i := range r.pools {
		if p := &r.pools[i]; p.fleet == nil && p.spec.At == at {
			return p.index, true
		}
	}
	return 0, false
}

// lineFor returns f's pool id, and its line for one of f's clients.
func (r *run) lineFor(f *fleet, id strategies.PoolID, client uint32) (p *poolOf, line uint32) {
	p = &r.pools[f.pools[id]]
	if p.spec.Scope == strategies.PerClient {
		return p, p.first + client
	}
	return p, p.first
}

// poolOf returns the pool of line l.
func (r *run) poolOf(l uint32) *poolOf {
	i := len(r.pools) - 1
	for r.pools[i].first > l {
		i--
	}
	return &r.pools[i]
}

// memory returns the memory of the pool of line l.
func (r *run) memory(p *poolOf, l uint32) []int64 {
	switch p.spec.Scope {
	case strategies.PerClient:
		return p.fleet.clientWords(l - p.first)[p.spec.At:]
	case strategies.PerFleet:
		return p.fleet.perFleet[p.spec.At:]
	default:
		return r.everyone[p.spec.At:]
	}
}

// tryTake takes n units from the pool of line l, without regard to the line.
func (r *run) tryTake(l, n uint32) (ok bool, readyAt time.Duration) {
	p := r.poolOf(l)
	return p.spec.Pool.TryTake(r.now, r.memory(p, l), n)
}

// TryTake implements strategies.Pools for the call in view.
func (r *run) TryTake(c *strategies.Call, t strategies.Take) bool {
	p := &r.pools[r.viewFleet.pools[t.Pool]]
	if p.standing > 0 {
		if _, at := r.lineFor(r.viewFleet, t.Pool, c.Client); r.lines[at].head != 0 {
			return false
		}
	}
	ok, _ := p.spec.Pool.TryTake(r.now, c.Driver().PoolWords(p.spec.Scope, p.spec.At), t.N)
	return ok
}

// acquire takes units of a pool for row i and reports whether it could; else row i
// waits in line.
func (r *run) acquire(i uint32, f *fleet, client uint32, t strategies.Take) bool {
	if r.calls[i].state&standing != 0 {
		r.mistake(f, strategies.ErrQueued)
		return false
	}
	p, at := r.lineFor(f, t.Pool, client)
	if p.private {
		return r.acquirePrivate(i, at, p, t.N)
	}
	if r.lines == nil { // the first wait for a pool
		r.lines = make([]line, r.numLines)
		r.waiting = make([]waiter, len(r.calls))
	}
	l := &r.lines[at]
	var ready time.Duration
	if l.head == 0 {
		ok, readyAt := r.tryTake(at, t.N)
		if ok {
			return true
		}
		ready = readyAt
	}
	p.standing++
	r.calls[i].state |= standing
	w := &r.waiting[i]
	*w = waiter{prev: l.tail, line: at + 1, n: t.N}
	if l.tail == 0 {
		l.head = i + 1
		r.armLine(at, ready)
	} else {
		r.waiting[l.tail-1].next = i + 1
	}
	l.tail = i + 1
	return false
}

// armLine sets the timer of a line's head.
func (r *run) armLine(at uint32, ready time.Duration) {
	l := &r.lines[at]
	l.timer++
	if ready != strategies.Never {
		ready = max(ready, r.now+1) // a pool that refuses now is not ready now
		r.queue.Push(des.Event{At: ready, Ref: at, Gen: l.timer, Kind: evPool})
	}
}

// leaveLine removes row i from its line.
func (r *run) leaveLine(i uint32) {
	r.calls[i].state &^= standing
	if r.leavePrivate(i) {
		return
	}
	w := r.waiting[i]
	l := &r.lines[w.line-1]
	r.poolOf(w.line-1).standing--
	if w.next != 0 {
		r.waiting[w.next-1].prev = w.prev
	} else {
		l.tail = w.prev
	}
	if w.prev != 0 {
		r.waiting[w.prev-1].next = w.next
	} else {
		l.head = w.next
		l.timer++ // the timer belonged to row i
		r.revisit = append(r.revisit, w.line-1)
	}
	r.waiting[i] = waiter{}
}

// put returns units to a pool and marks its line to be revisited.
func (r *run) put(f *fleet, client uint32, id strategies.PoolID, n uint32) {
	p, at := r.lineFor(f, id, client)
	p.spec.Pool.Put(r.now, r.memory(p, at), n)
	if p.private {
		r.putPrivate(at, p)
		return
	}
	if p.standing > 0 && r.lines[at].head != 0 {
		r.revisit = append(r.revisit, at)
	}
}

// poolReady handles the timer of a line's head. It reports false if the timer is
// stale.
func (r *run) poolReady(e des.Event) bool {
	if p := r.poolOf(e.Ref); p.private {
		return r.privateReady(e, p)
	}
	if r.lines[e.Ref].timer != e.Gen {
		return false
	}
	r.admit(e.Ref)
	return true
}

// admit admits calls from the head of a line while the pool has units.
func (r *run) admit(at uint32) {
	if p := r.poolOf(at); p.private {
		r.admitPrivate(at, p)
		return
	}
	for r.lines[at].head != 0 && r.err == nil {
		l := &r.lines[at]
		i := l.head - 1
		ok, ready := r.tryTake(at, r.waiting[i].n)
		if !ok {
			r.armLine(at, ready)
			return
		}
		r.poolOf(at).standing--
		r.calls[i].state &^= standing
		l.head = r.waiting[i].next
		if l.head == 0 {
			l.tail = 0
		} else {
			r.waiting[l.head-1].prev = 0
		}
		r.waiting[i] = waiter{}
		r.decide(i, strategies.Event{Kind: strategies.Admitted})
	}
}
