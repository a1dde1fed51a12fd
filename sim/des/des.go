// Package des keeps pending events and returns them in time order. The meaning
// of an event belongs to the driver.
//
// Most drivers need three names: an Event, and Queue with its methods Push and
// Pop.
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
	// Ref is the number of the object that it concerns, such as a call's row.
	Ref uint32
	// Gen is the generation of that object when the event was scheduled, by
	// which a driver recognises a stale event.
	Gen uint16
	// Kind is the kind of event and its priority at one instant, lower first. It
	// must be below MaxKinds.
	Kind uint8
}

// MaxKinds bounds Event.Kind.
const MaxKinds = 16

// Queue is the pending set: a radix heap of base 256.
//
// Slot s of level l holds the events whose time differs from the last popped
// time in byte l first, and has the value s there. A pop does not compare events:
// it finds the lowest slot in use and, if this spans more than one instant, moves
// its events to lower levels. Each event is moved at most once per level. The
// order of equals follows from the structure: slots are first in, first out, and
// an event is moved to a lower level before another can be scheduled there
// directly. No event may lie before the last one popped: Push panics then.
//
// The structure is that of Ahuja, Mehlhorn, Orlin and Tarjan, "Faster
// algorithms for the shortest path problem", JACM 37 (1990). Most slots that are
// emptied hold one event, so the first event of each slot is in a table and only
// the others are in chunks.
//
// The zero value is an empty queue at time 0.
type Queue struct {
	last int64 // the last popped time; the origin of the slots
	len  int
	// now holds the events due at exactly last, one list per kind.
	now     [MaxKinds]line
	nowMask uint32

	words uint32             // which words of used are not 0
	used  [slots / 64]uint64 // which slots hold events
	more  [slots / 64]uint64 // which slots hold more than the first
	first [slots]Event       // of each slot in use
	rest  [slots]list        // of each slot that holds more
	room  [slots]uint8       // how many events more the last chunk of each rest takes

	chunks []chunk
	next   []int32 // by chunk: the one after it, as index+1
	free   int32   // head of the list of free chunks, as index+1
	// Opened, if set, is called with batches of events shortly before they fire:
	// those of a slot that spans 65,536 ns, or of one 256 times as long if it has
	// few events. It sees most events that were scheduled further ahead, and a
	// few twice. A driver can read the memory they refer to in one loop, so that
	// the cache misses overlap. It must not schedule events.
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

const chunkEvents = 32

// chunk is 512 bytes of a slot's events.
type chunk [chunkEvents]Event

// line holds the events of one kind at one instant, first in, first out.
type line struct {
	events []Event
	head   int
}

// touchLevel is the level whose slots span 65,536 ns; Opened sees those with more
// than touchFew events. Of slots one level up it sees those with at most
// touchEvents: the memory these refer to stays in a second-level cache until they
// fire. They are then mostly dealt to slots of at most touchFew events, which
// Opened need not see again.
const (
	touchLevel  = 2
	touchEvents = 2048
	touchFew    = 2 * touchEvents >> levelBits
)

// Grow allocates memory for n pending events in advance.
func (q *Queue) Grow(n int) {
	need := n/chunkEvents + 512
	if need > cap(q.chunks) {
		q.chunks = append(make([]chunk, 0, need), q.chunks...)
		q.next = append(make([]int32, 0, need), q.next...)
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
	if int64(e.At) <= q.last {
		q.pushNow(e)
		return
	}
	s := q.slot(e.At)
	if q.claim(s) {
		q.first[s] = e
		return
	}
	q.pushBehind(e, s)
}

func (q *Queue) pushNow(e Event) {
	if int64(e.At) < q.last {
		panic(fmt.Sprintf("des: event of kind %d scheduled at %v, before the present %v", e.Kind, e.At, q.Now()))
	}
	l := &q.now[e.Kind]
	l.events = append(l.events, e)
	q.nowMask |= 1 << e.Kind
}

// slot returns the slot of an event that is due later than last.
func (q *Queue) slot(at time.Duration) uint {
	level := uint(63-bits.LeadingZeros64(uint64(int64(at)^q.last))) >> 3
	return level<<levelBits&(slots-1) | uint(uint8(uint64(at)>>(level*8&63)))
}

// claim marks slot s as used and reports whether it was unused.
func (q *Queue) claim(s uint) bool {
	w, bit := s/64, uint64(1)<<(s%64)
	used := q.used[w]
	q.used[w] = used | bit
	q.words |= 1 << w
	return used&bit == 0
}

// pushBehind appends e to slot s, which holds an event already.
func (q *Queue) pushBehind(e Event, s uint) {
	s &= slots - 1
	if q.room[s] == 0 {
		q.extend(s)
	}
	q.chunks[q.rest[s].tail-1][(chunkEvents-q.room[s])%chunkEvents] = e
	q.room[s]--
}

// extend adds a chunk to slot s, whose last one is full if it has one.
func (q *Queue) extend(s uint) {
	t := q.free
	if t != 0 {
		q.free, q.next[t-1] = q.next[t-1], 0
	} else {
		q.chunks, q.next = append(q.chunks, chunk{}), append(q.next, 0)
		t = int32(len(q.chunks))
	}
	l, w, bit := &q.rest[s], s/64, uint64(1)<<(s%64)
	if q.more[w]&bit == 0 {
		q.more[w] |= bit
		l.head = t
	} else {
		q.next[l.tail-1] = t
	}
	l.tail, q.room[s] = t, chunkEvents
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

// deal sets last to the first time in slot s, which holds several events and has
// just been marked as empty. Events due then go into now, the others into lower
// slots.
func (q *Queue) deal(s uint) {
	head, full := q.rest[s].head, chunkEvents-int(q.room[s])
	q.room[s] = 0
	// The earliest event of the slot is the next of all. Making its time the
	// origin sends most of the others to the lowest level they can have.
	first, n := q.first[s].At, 1
	for t := head; t != 0; t = q.next[t-1] {
		events := q.held(t, full)
		for i := range events {
			first = min(first, events[i].At)
		}
		n += len(events)
	}
	q.last = int64(first)
	level := s >> levelBits
	touch := q.Opened != nil && (level == touchLevel && n > touchFew || level == touchLevel+1 && n <= touchEvents)
	q.put(q.first[s:s+1], touch)
	for t := head; t != 0; {
		// If put reallocates the chunks, the events it reads remain in the old
		// array, which is valid: the chunk is not written to until it is free.
		q.put(q.held(t, full), touch)
		t, q.next[t-1], q.free = q.next[t-1], q.free, t
	}
}

// put inserts events by the new value of last.
func (q *Queue) put(events []Event, touch bool) {
	if touch {
		q.Opened(events)
	}
	for i := range events {
		e := events[i]
		if int64(e.At) == q.last {
			q.pushNow(e)
		} else if s := q.slot(e.At); q.claim(s) {
			q.first[s] = e
		} else {
			q.pushBehind(e, s)
		}
	}
}

// held returns the events of chunk t of a slot whose last chunk holds full.
func (q *Queue) held(t int32, full int) []Event {
	c := &q.chunks[t-1]
	if q.next[t-1] != 0 {
		return c[:]
	}
	return c[:full]
}
