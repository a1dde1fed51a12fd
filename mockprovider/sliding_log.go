package mockprovider

import (
	"time"

	"herdlab/mockprovider/wire"
)

// SlidingLog is the exact limit: at most Limit requests in any half-open
// interval of length Length, wherever it begins. It remembers when each of the
// last Limit requests came, so its memory grows with what it lets in, up to
// Limit times for each key. Requests it refuses are not counted.
type SlidingLog struct {
	Limit  int32
	Length time.Duration
	Terms
}

// Validate implements Limit.
func (l SlidingLog) Validate() error {
	return validateCount("sliding log", l.Limit, l.Length, l.Terms)
}

// Bound implements Limit: the limit ÷ the length.
func (l SlidingLog) Bound(load Load) Bound {
	return Bound{Count: int64(l.Limit) * int64(l.Per.keys(load.Space)), Per: l.Length}
}

// Gate implements Limit.
func (l SlidingLog) Gate(space Space) Gate {
	return &slidingLog{SlidingLog: l, keying: l.Per.keying(space), keys: make([]stamps, l.Per.keys(space))}
}

type slidingLog struct {
	SlidingLog
	keying
	keys []stamps
}

// Take implements Gate.
func (l *slidingLog) Take(now time.Duration, r *wire.Request) bool {
	k := &l.keys[l.of(r)]
	for k.n > 0 && now-k.oldest() >= l.Length {
		k.dropOldest()
	}
	if k.n >= int(l.Limit) {
		return false
	}
	k.add(now, int(l.Limit))
	return true
}

// Refuse implements Gate. There is room as soon as the oldest has left.
func (l *slidingLog) Refuse(now time.Duration, r *wire.Request, to *wire.Reply) {
	k := &l.keys[l.of(r)]
	l.Refusal.reply(to, wire.Rate, l.Length-(now-k.oldest()), l.Limit, l.Limit-int32(k.n))
}

// Undo implements Gate. What Take has just counted is the newest.
func (l *slidingLog) Undo(_ time.Duration, r *wire.Request, keep bool) {
	if !keep {
		l.keys[l.of(r)].n--
	}
}

// Release implements Gate: a log does not care when work is over, or how.
func (*slidingLog) Release(time.Duration, *wire.Request, Ended) {}

// stamps is a ring of times, oldest first: n of them, from index first on. It
// grows when it is full, so that it allocates nothing once it has seen the
// largest crowd.
type stamps struct {
	at       []time.Duration
	first, n int
}

func (s *stamps) oldest() time.Duration { return s.at[s.first] }

func (s *stamps) dropOldest() {
	if s.first++; s.first == len(s.at) {
		s.first = 0
	}
	s.n--
}

// add appends a time to fewer than limit others.
func (s *stamps) add(t time.Duration, limit int) {
	if s.n == len(s.at) {
		grown := make([]time.Duration, min(limit, max(8, 2*s.n)))
		n := copy(grown, s.at[s.first:])
		copy(grown[n:], s.at[:s.first])
		s.at, s.first = grown, 0
	}
	i := s.first + s.n
	if i >= len(s.at) {
		i -= len(s.at)
	}
	s.at[i] = t
	s.n++
}
