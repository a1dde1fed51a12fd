// Package des keeps pending events and hands them out in time order. It knows
// nothing else: what an event means is its driver's business.
//
// Events fire in the order (time, kind, sequence): at one instant the kinds
// fire in ascending order, and events of one kind in the order they were
// scheduled. A driver numbers its kinds accordingly.
package des

import (
	"fmt"
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
// Slot s of level l holds the events whose time differs from the last popped
// time in byte l first, and has the value s there; so a pop never compares
// events, it only looks for the lowest slot in use and, where that spans more
// than one instant, deals its events out to lower levels. Each event is moved at
// most once per level. Order among equals is structural: slots are first in,
// first out, and an event is dealt to a lower level before anything can be
// scheduled there directly. The heap needs times that never lie before the last
// one popped; Push panics if a driver breaks that.
//
// The structure is that of Ahuja, Mehlhorn, Orlin and Tarjan, "Faster
// algorithms for the shortest path problem", JACM 37 (1990). Most slots that are
// emptied hold one event, so the first of each stands in a table, and only the
// others are in chunks.
//
// The zero value is an empty queue at time 0.
type Queue struct {
	last int64 // the last popped time; the origin of the slots
	len  int
	// now holds what is due at exactly last, one line per kind.
	now     [MaxKinds]line
	nowMask uint32

	words uint32             // which words of used are not 0
	used  [slots / 64]uint64 // which slots hold events
	more  [slots / 64]uint64 // which slots hold more than the first
	first [slots]Event       // of each slot in use
	rest  [slots]list        // of each slot that holds more
	fill  [slots]uint8       // how many events the last chunk of each rest holds; the others are full

	chunks []chunk
	free   int32 // head of the list of free chunks, as index+1
	// Opened, if set, is called with batches of the events dealt out of a slot
	// that spans 65,536 ns, or out of one 256 times as long if there are few
	// enough in it: shortly before they fire, for most that were scheduled
	// further ahead than that, and for some twice. A driver can touch the
	// memory they refer to in one loop, so that the cache misses overlap. It
	// must not schedule events.
	Opened func([]Event)
}

// slots are 256 for each of the 8 bytes of a time, numbered from the lowest
// byte up.
const (
	levelBits = 8
	slots     = 8 << levelBits
)

// list is the chunks that hold a slot's events but the first, as index+1.
type list struct{ head, tail int32 }

const chunkEvents = 31

// chunk is 512 bytes of a slot's events.
type chunk struct {
	next   int32 // index+1 of the following chunk
	_      [12]byte
	events [chunkEvents]Event
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
	if int64(e.At) > q.last {
		q.place(e, uint64(int64(e.At)^q.last))
		return
	}
	q.pushNow(e)
}

func (q *Queue) pushNow(e Event) {
	if int64(e.At) < q.last {
		panic(fmt.Sprintf("des: event of kind %d scheduled at %v, before the present %v", e.Kind, e.At, q.Now()))
	}
	l := &q.now[e.Kind]
	l.events = append(l.events, e)
	q.nowMask |= 1 << e.Kind
}

// place puts e into the slot given by x, the exclusive or of its time with
// last; x is not 0.
func (q *Queue) place(e Event, x uint64) {
	level := uint(63-bits.LeadingZeros64(x)) >> 3
	s := level<<levelBits&(slots-1) | uint(uint8(uint64(e.At)>>(level*8&63)))
	w, bit := s/64, uint64(1)<<(s%64)
	if used := q.used[w]; used&bit == 0 {
		q.used[w] = used | bit
		q.words |= 1 << w
		q.first[s] = e
		return
	}
	q.placeBehind(e, s)
}

// placeBehind puts e into slot s, which holds an event already.
func (q *Queue) placeBehind(e Event, s uint) {
	s &= slots - 1
	w, bit := s/64, uint64(1)<<(s%64)
	l, n := &q.rest[s], q.fill[s]
	switch {
	case q.more[w]&bit == 0:
		q.more[w] |= bit
		l.head, n = q.newChunk(), 0
		l.tail = l.head
	case n == chunkEvents:
		t := q.newChunk()
		q.chunks[l.tail-1].next = t
		l.tail, n = t, 0
	}
	q.chunks[l.tail-1].events[n] = e
	q.fill[s] = n + 1
}

func (q *Queue) newChunk() int32 {
	t := q.free
	if t == 0 {
		return q.moreChunks()
	}
	c := &q.chunks[t-1]
	q.free, c.next = c.next, 0
	return t
}

// moreChunks makes a chunk that there was not.
//
//go:noinline
func (q *Queue) moreChunks() int32 {
	q.chunks = append(q.chunks, chunk{})
	return int32(len(q.chunks))
}

// Pop removes and returns the next event; ok is false if there is none.
func (q *Queue) Pop() (e Event, ok bool) {
	if q.nowMask == 0 {
		if q.words == 0 {
			return Event{}, false
		}
		w := uint(bits.TrailingZeros32(q.words)) % 32
		used := q.used[w]
		bit := used & -used
		if used ^= bit; used == 0 {
			q.words &= q.words - 1
		}
		q.used[w] = used
		s := w*64 + uint(bits.TrailingZeros64(bit))%64
		if q.more[w]&bit == 0 { // the only event of the slot
			e = q.first[s]
			q.last = int64(e.At)
			q.len--
			return e, true
		}
		q.more[w] &^= bit
		q.deal(s)
	}
	k := bits.TrailingZeros32(q.nowMask) % MaxKinds
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

// deal moves the present to the first instant of slot s, which has just been
// marked as empty and holds several events. What is due then is put into now,
// the others into lower slots.
func (q *Queue) deal(s uint) {
	e, head, fill := q.first[s], q.rest[s].head, q.fill[s]
	// The earliest event of the slot is the next of all. Making its time the
	// origin sends most of the others to the lowest level they can have.
	first, n := e.At, 1
	for t := head; t != 0; t = q.chunks[t-1].next {
		events := q.held(t, fill)
		for i := range events {
			first = min(first, events[i].At)
		}
		n += len(events)
	}
	q.last = int64(first)
	level := s >> levelBits
	touch := q.Opened != nil && (level == touchLevel || level == touchLevel+1 && n <= touchEvents)
	if touch {
		q.Opened(q.first[s : s+1])
	}
	q.put(e)
	for t := head; t != 0; {
		events := q.held(t, fill)
		if touch {
			q.Opened(events)
		}
		// If placing grows the pool, events stays behind, but valid: the chunk is
		// not written to until it is released.
		for i := range events {
			q.put(events[i])
		}
		t = q.release(t)
	}
}

// put puts e, which is not counted anew, where it belongs.
func (q *Queue) put(e Event) {
	if x := uint64(int64(e.At) ^ q.last); x != 0 {
		q.place(e, x)
	} else {
		q.pushNow(e)
	}
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
