// Package des keeps pending events and hands them out in time order. It knows
// nothing else: what an event means is its driver's business.
//
// Events fire in the order (time, kind, sequence): at one instant the kinds
// fire in ascending order, and events of one kind in the order they were
// scheduled. A driver numbers its kinds accordingly.
package des

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Event is one entry of the pending set: 16 bytes, no pointers.
type Event struct {
	// At is when it fires, in ns since the run began.
	At time.Duration
	// Ref says what it concerns; the driver knows what kind of thing that is.
	Ref uint32
	// Gen is the generation of that thing when the event was scheduled. A
	// driver recognises a stale event by it.
	Gen uint16
	// Kind says what happens, and is the priority at one instant: lower first.
	// It must be below MaxKinds.
	Kind uint8
}

// MaxKinds bounds Event.Kind.
const MaxKinds = 16

// Queue is the pending set: a radix heap of base 256.
//
// Level l, slot s holds the events whose time differs from the last popped
// time in byte l first, and has the value s there; so a pop never compares
// events, it only looks for the lowest non-empty slot and, where that slot
// spans more than one instant, deals its events out to lower levels. Each
// event is moved at most once per level. Order among equals is structural:
// slots are first in, first out, and an event is dealt to a lower level before
// anything can be scheduled there directly. The heap needs times that never
// lie before the last one popped; Push panics if a driver breaks that.
//
// The structure is that of Ahuja, Mehlhorn, Orlin and Tarjan, "Faster
// algorithms for the shortest path problem", JACM 37 (1990).
//
// The zero value is an empty queue at time 0.
type Queue struct {
	last int64 // the last popped time; the origin of the slots
	len  int
	// now holds what is due at exactly last, one line per kind.
	now       [MaxKinds]line
	nowMask   uint32
	levels    [8]level
	levelMask uint32 // which levels hold events
	chunks    []chunk
	free      int32 // head of the list of free chunks, as index+1
	// Opened, if set, is called with each batch of events dealt out of a slot
	// that spans 65,536 ns, or out of one 256 times as long if there are few
	// enough in it: shortly before they fire, for most that were scheduled
	// further ahead than that, and for some twice. A driver can touch the
	// memory they refer to in one loop, so that the cache misses overlap. It
	// must not schedule events.
	Opened func([]Event)
}

const chunkEvents = 31

// chunk is 512 bytes of a slot's events.
type chunk struct {
	next   int32 // index+1 of the following chunk
	_      [12]byte
	events [chunkEvents]Event
}

type level struct {
	used       [4]uint64  // which slots hold events
	words      uint8      // which words of used are not 0
	head, tail [256]int32 // first and last chunk of each slot in use, as index+1; tail 0 if not in use
	// fill is how many events the last chunk of each slot holds; the others
	// are full. It stands here and not in the chunk so that scheduling touches
	// no more of a chunk than the line it writes.
	fill [256]uint8
}

// line is a first-in-first-out queue of the events of one kind at one instant.
type line struct {
	events []Event
	head   int
}

// touchLevel is the level whose slots span 65,536 ns. Slots one level up are
// touched too if they hold at most touchEvents: what those refer to stays in a
// cache of the second level until they fire.
const (
	touchLevel  = 2
	touchEvents = 2048
)

// Grow makes room for n pending events in advance, so that a driver that knows
// its population allocates once.
func (q *Queue) Grow(n int) {
	need := n/chunkEvents + 512
	if need > cap(q.chunks) {
		q.chunks = append(make([]chunk, 0, need), q.chunks...)
	}
}

// Len returns the number of pending events.
func (q *Queue) Len() int { return q.len }

// Now returns the time of the last event popped.
func (q *Queue) Now() time.Duration { return time.Duration(q.last) }

// Push schedules e. It panics if e.At lies before Now: an event cannot precede
// its cause.
func (q *Queue) Push(e Event) {
	q.len++
	x := int64(e.At) ^ q.last
	if int64(e.At) <= q.last {
		if x != 0 {
			panic(fmt.Sprintf("des: event of kind %d scheduled at %v, before the present %v", e.Kind, e.At, q.Now()))
		}
		q.pushNow(e)
		return
	}
	q.place(e, uint64(x))
}

func (q *Queue) pushNow(e Event) {
	l := &q.now[e.Kind]
	l.events = append(l.events, e)
	q.nowMask |= 1 << e.Kind
}

// place puts e into the slot given by x, the exclusive or of its time with
// last; x is not 0.
func (q *Queue) place(e Event, x uint64) {
	lv := uint(63-bits.LeadingZeros64(x)) >> 3
	l := &q.levels[lv&7]
	s := uint8(uint64(e.At) >> (lv * 8 & 63)) // the mask spares a check of the shift
	t, n := l.tail[s], l.fill[s]
	switch {
	case t == 0:
		l.used[s>>6] |= 1 << (s & 63)
		l.words |= 1 << (s >> 6)
		q.levelMask |= 1 << (lv & 7)
		t, n = q.newChunk(), 0
		l.head[s], l.tail[s] = t, t
	case n == chunkEvents:
		t, n = q.newChunk(), 0
		q.chunks[l.tail[s]-1].next = t
		l.tail[s] = t
	}
	q.chunks[t-1].events[n] = e
	l.fill[s] = n + 1
}

func (q *Queue) newChunk() int32 {
	if t := q.free; t != 0 {
		c := &q.chunks[t-1]
		q.free = c.next
		c.next = 0
		return t
	}
	q.chunks = append(q.chunks, chunk{})
	return int32(len(q.chunks))
}

// Pop removes and returns the next event; ok is false if there is none.
func (q *Queue) Pop() (e Event, ok bool) {
	if q.nowMask == 0 {
		alone, found := q.advance(&e)
		if alone {
			q.len--
			return e, true
		}
		if !found {
			return Event{}, false
		}
	}
	k := bits.TrailingZeros32(q.nowMask)
	l := &q.now[k]
	e = l.events[l.head]
	l.head++
	if l.head == len(l.events) {
		l.events, l.head = l.events[:0], 0
		q.nowMask &^= 1 << k
	}
	q.len--
	return e, true
}

// advance moves the present to the next instant that has events. If exactly
// one event is due then, it is returned in e and alone is true; otherwise the
// events due are in now. It reports found = false if nothing is pending.
func (q *Queue) advance(e *Event) (alone, found bool) {
	if q.levelMask == 0 {
		return false, false
	}
	lv := bits.TrailingZeros32(q.levelMask) & 7
	t, fill := q.take(lv)
	c := &q.chunks[t-1]
	if fill == 1 && c.next == 0 { // the only event of the slot
		*e = c.events[0]
		c.next, q.free = q.free, t
		q.last = int64(e.At)
		return true, true
	}
	if lv == 0 { // a slot of level 0 is one instant
		q.last = int64(c.events[0].At)
		for t != 0 {
			for _, e := range q.held(t, fill) {
				q.pushNow(e)
			}
			t = q.release(t)
		}
		return false, true
	}
	// The earliest event of the slot is the next of all. Making its time the
	// origin sends most of the others to the lowest level they can have.
	first, n := int64(math.MaxInt64), 0
	for u := t; u != 0; u = q.chunks[u-1].next {
		events := q.held(u, fill)
		for i := range events {
			first = min(first, int64(events[i].At))
		}
		n += len(events)
	}
	q.last = first
	touch := q.Opened != nil && (lv == touchLevel || lv == touchLevel+1 && n <= touchEvents)
	for t != 0 {
		events := q.held(t, fill)
		if touch {
			q.Opened(events)
		}
		// If place grows the pool, events stays behind, but valid: the chunk is
		// not written to until it is released.
		for i := range events {
			e := events[i]
			if x := uint64(int64(e.At) ^ first); x != 0 {
				q.place(e, x)
			} else {
				q.pushNow(e)
			}
		}
		t = q.release(t)
	}
	return false, true
}

// held returns the events of chunk t of a slot whose last chunk holds fill.
func (q *Queue) held(t int32, fill uint8) []Event {
	c := &q.chunks[t-1]
	if c.next != 0 {
		return c.events[:]
	}
	return c.events[:fill]
}

// release frees chunk t and returns the one after it.
func (q *Queue) release(t int32) int32 {
	c := &q.chunks[t-1]
	next := c.next
	c.next, q.free = q.free, t
	return next
}

// take empties the first slot in use of level lv and returns its first chunk,
// and how many events its last chunk holds.
func (q *Queue) take(lv int) (t int32, fill uint8) {
	l := &q.levels[lv]
	i := bits.TrailingZeros8(l.words) & 3
	w := l.used[i]
	s := uint8(i<<6 | bits.TrailingZeros64(w))
	t, fill = l.head[s], l.fill[s]
	l.tail[s] = 0
	l.used[i] = w & (w - 1)
	if l.used[i] == 0 {
		l.words &^= 1 << i
		if l.words == 0 {
			q.levelMask &^= 1 << (lv & 7)
		}
	}
	return t, fill
}
