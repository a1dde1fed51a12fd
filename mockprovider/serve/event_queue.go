package serve

import (
	"math"
	"time"
)

// never is a time after all events.
const never = time.Duration(math.MaxInt64)

// The kinds of events. At one instant they are handled in this order, as in the
// simulator: the provider's own changes first; then slots become free, before any
// reply is sent. Arrivals are handled after all of them, because the driver
// empties the queue first.
const (
	tick uint8 = iota
	done
	headSent
	replySent
)

// event is something that happens later.
type event struct {
	at   time.Duration
	seq  uint64
	ref  uint32 // the job of done, or the ticket of headSent and replySent
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

// eventQueue holds events as a binary heap in the order (time, kind, sequence).
// The simulator's queue is faster, but its origin must not move past an event;
// here arrivals come at any time.
type eventQueue struct {
	heap []event
	seq  uint64
}

// next returns the time of the first event, never if there is none.
func (a *eventQueue) next() time.Duration {
	if len(a.heap) == 0 {
		return never
	}
	return a.heap[0].at
}

// push adds an event and returns its sequence number, which is never 0.
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

// pop removes the first event and returns it; the queue must not be empty.
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
