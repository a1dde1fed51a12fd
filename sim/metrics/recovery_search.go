package metrics

import (
	"math"
	"sort"
	"time"
)

// recoverySearch finds the first window after the end of a fault in which useful
// answers are at least 95 % of what was possible. Windows [t, t + width) may begin
// at any time t from the end of the fault on. What was possible is the smaller of
//
//	the calls settled in the window + the calls that wait at its end
//	capacity × width
//
// without those of the waiting calls that arrived within the last service time
// before the window's end, which no provider could have answered by then.
//
// All counts change at single instants only, so the search looks at the first window
// and at those that begin just after such a change: after a call has begun or is
// settled, at the end of the window, or such an instant has left the window at its
// beginning. (That a waiting call becomes older than the service time only makes
// more possible, so no window is found by it.) The search holds the instants of one
// window and stops when it has found one.
type recoverySearch struct {
	width, service time.Duration
	possible       float64 // capacity × width; infinite without a bound
	from           time.Duration
	until          time.Duration // windows end by then: the next fault that refuses begins
	searching      bool
	found          time.Duration // when the window begins; −1 if none is found

	now             time.Duration // up to which instants have been taken in
	settled, useful int64         // within the window that ends now
	waiting         int64         // calls that have begun and are not settled
	young           int64         // the part of them that arrived within service
	endings         queueOf[settledAt]
	births          queueOf[bornAt]
}

// settledAt counts the calls that were settled at one instant.
type settledAt struct {
	at              time.Duration
	settled, useful int64
}

// bornAt counts the calls that began at one instant, and those of them that are
// still waiting.
type bornAt struct {
	at      time.Duration
	waiting int64
}

// queueOf is a first-in, first-out queue that reuses its memory.
type queueOf[T any] struct {
	items []T
	head  int
}

func (q *queueOf[T]) live() []T { return q.items[q.head:] }

func (q *queueOf[T]) push(x T) {
	if q.head > 64 && 2*q.head > len(q.items) {
		q.items = q.items[:copy(q.items, q.items[q.head:])]
		q.head = 0
	}
	q.items = append(q.items, x)
}

func (q *queueOf[T]) pop() { q.head++ }

func (q *queueOf[T]) clear() { q.items, q.head = q.items[:0], 0 }

// start begins the search at the end of a fault, before which so many calls were
// waiting.
func (s *recoverySearch) start(from, until time.Duration, waiting int64) {
	s.from, s.until, s.now, s.found = from, until, from, -1
	s.searching = true
	s.settled, s.useful, s.waiting, s.young = 0, 0, waiting, 0
	s.endings.clear()
	s.births.clear()
}

// begun takes in a call that begins at now, to which the search has advanced.
func (s *recoverySearch) begun(now time.Duration) {
	s.waiting++
	if s.service <= 0 {
		return
	}
	s.young++
	if b := s.births.live(); len(b) > 0 && b[len(b)-1].at == now {
		b[len(b)-1].waiting++
		return
	}
	s.births.push(bornAt{now, 1})
}

// over takes in a call that is settled at now, to which the search has advanced.
func (s *recoverySearch) over(now, born time.Duration, useful bool) {
	s.waiting--
	b := s.births.live()
	if i := sort.Search(len(b), func(i int) bool { return b[i].at >= born }); i < len(b) && b[i].at == born {
		b[i].waiting--
		s.young--
	}
	e := s.endings.live()
	if len(e) == 0 || e[len(e)-1].at != now {
		s.endings.push(settledAt{at: now})
		e = s.endings.live()
	}
	last := &e[len(e)-1]
	last.settled++
	s.settled++
	if useful {
		last.useful++
		s.useful++
	}
}

// advance looks at the windows that end before now, and reports whether the search
// goes on.
func (s *recoverySearch) advance(now time.Duration) bool {
	for s.now < now {
		if s.look() {
			return false
		}
		// The next instant at which a count changes by itself.
		next, first := now, s.from+s.width
		if e := s.endings.live(); len(e) > 0 {
			next = min(next, e[0].at+s.width)
		}
		if s.now < first && first <= next {
			next = first
			s.age(first - 1)
			if s.now = first - 1; s.now >= s.from && s.examine(s.from) {
				return false
			}
		}
		s.now = next
		for e := s.endings.live(); len(e) > 0 && e[0].at+s.width <= s.now; e = s.endings.live() {
			s.settled -= e[0].settled
			s.useful -= e[0].useful
			s.endings.pop()
		}
		s.age(s.now)
	}
	return true
}

// age notes the calls that are no longer young at now.
func (s *recoverySearch) age(now time.Duration) {
	for b := s.births.live(); len(b) > 0 && b[0].at+s.service <= now; b = s.births.live() {
		s.young -= b[0].waiting
		s.births.pop()
	}
}

// look examines the window that begins just after now − width, and reports whether
// the search is over.
func (s *recoverySearch) look() (over bool) {
	if s.now < s.from+s.width {
		return false
	}
	return s.examine(s.now - s.width)
}

// examine examines the window that begins at a time, by the present counts, and
// reports whether the search is over.
func (s *recoverySearch) examine(begins time.Duration) (over bool) {
	if begins+s.width > s.until {
		s.searching = false
		return true
	}
	possible := min(float64(s.settled+s.waiting-s.young), s.possible)
	if float64(s.useful) >= float64(recoveryShare*possible) {
		s.found, s.searching = begins, false
		return true
	}
	return false
}

// newRecoverySearch returns a search for a provider of that capacity, in requests
// per second (0 if it has no bound), and mean service time.
func newRecoverySearch(capacity float64, service time.Duration) recoverySearch {
	s := recoverySearch{width: max(recoveryWindow, 2*service), service: max(service, 0), possible: math.Inf(1), found: -1}
	if capacity > 0 {
		s.possible = float64(capacity * s.width.Seconds())
	}
	return s
}
