package layers

import (
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// SlidingLog lets at most Limit attempts through in any interval of length Length,
// both ends included: an attempt made exactly Length ago still counts. Further
// attempts wait, so that the provider does not refuse them.
//
// Use it below a provider's window, sliding or fixed, with Limit a little less than
// the provider's: then no interval holds too many attempts, for any phase of the
// provider's window. It costs one word for each attempt that it remembers, and
// after a pause it lets Limit attempts through at once.
type SlidingLog struct {
	// Limit is the number of attempts that may go in any interval of length Length,
	// 1 to MaxLog; Length must be positive.
	Limit  int `rate:"Length" required:"120/min" about:"How many attempts may go in any interval of that length, at most 1023."`
	Length time.Duration
	// Scope sets which clients share the limit, PerClient or wider. Name identifies
	// a limit with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// MaxLog bounds SlidingLog.Limit; a SlidingCounter has no such bound.
const MaxLog = strategies.MaxWords - 1

// Build implements Layer.
func (l SlidingLog) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	switch {
	case l.Limit < 1 || l.Limit > MaxLog:
		return nil, fmt.Errorf("sliding log: rate must allow 1 to %d attempts per interval, not %d; for more, use sliding_counter", MaxLog, l.Limit)
	case l.Length <= 0:
		return nil, fmt.Errorf("sliding log: the interval of rate must be positive, not %v", l.Length)
	}
	if err := l.Scope.CheckShared(l.Name); err != nil {
		return nil, fmt.Errorf("sliding log: %w", err)
	}
	id, err := b.Pool(stamps{l.Limit, l.Length}, l.Scope, "sliding log "+l.Name)
	if err != nil {
		return nil, err
	}
	return b.Spend("sliding log", id, inner)
}

// stamps is the pool of a SlidingLog. Its first word is the index of the oldest
// stamp in the ring that follows. A stamp is the time when an attempt stops
// counting, so that zeroed memory is an empty log.
type stamps struct {
	limit int
	per   time.Duration
}

// Words implements Pool.
func (s stamps) Words() int { return s.limit + 1 }

// TryTake implements Pool. The n oldest stamps must have expired.
func (s stamps) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	switch {
	case n == 0:
		return true, now
	case int64(n) > int64(s.limit):
		return false, strategies.Never
	}
	if free := time.Duration(*s.place(m, int(n)-1)); now < free {
		return false, free
	}
	for i := range int(n) {
		*s.place(m, i) = int64(saturating.Add(saturating.Add(now, s.per), 1))
	}
	m[0] = (m[0] + int64(n)) % int64(s.limit)
	return true, now
}

// Put implements Pool: it removes the n newest stamps.
func (s stamps) Put(_ time.Duration, m []int64, n uint32) {
	for range min(int(n), s.limit) {
		m[0] = (m[0] + int64(s.limit) - 1) % int64(s.limit)
		*s.place(m, 0) = 0
	}
}

// place returns the i-th oldest stamp.
func (s stamps) place(m []int64, i int) *int64 { return &m[1+(int(m[0])+i)%s.limit] }
