package serve

import (
	"math"
	"time"
)

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

// The kinds of entries. Their order is the order at one instant, as in the
// simulator: the provider changes by itself before anything meets it, and slots
// become free before a reply tells anybody of it. An arrival comes after all of
// them, because the driver looks at its agenda first.
const (
	tick uint8 = iota
	done
	headSent
	replySent
)

// entry is one thing to do later.
type event struct {
	at   time.Duration
	seq  uint64
	ref  uint32 // a job for done, a ticket for what leaves
	kind uint8
}

func (a *event) before(b *event) bool {
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.kind != b.kind:
		return a.kind < b.kind
	}
	return a.seq < b.seq
}

// agenda is what is to be done later, as a binary heap in the order (time,
// kind, sequence). The simulator's queue is faster, but it needs an origin that
// never moves past an entry; here arrivals come whenever they like.
type eventQueue struct {
	heap []event
	seq  uint64
}

// next returns when the first entry is due, never if there is none.
func (a *eventQueue) next() time.Duration {
	if len(a.heap) == 0 {
		return never
	}
	return a.heap[0].at
}

// push adds an entry and returns its sequence number, which is never 0.
func (a *eventQueue) push(at time.Duration, kind uint8, ref uint32) uint64 {
	a.seq++
	a.heap = append(a.heap, event{at, a.seq, ref, kind})
	h := a.heap
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(&h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
	return a.seq
}

// pop takes the first entry; there must be one.
func (a *eventQueue) pop() event {
	h := a.heap
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	a.heap = h
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			return first
		}
		if right := down + 1; right < last && h[right].before(&h[down]) {
			down = right
		}
		if !h[down].before(&h[i]) {
			return first
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}
