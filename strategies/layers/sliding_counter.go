package layers

import (
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// SlidingCounter approximates a SlidingLog by two counters: this window's, and
// the last one's weighted by how much of it an interval that ends now would
// still cover. An attempt goes out when the weighted sum with it is at most
// Limit, and waits until then.
//
// It is right where the limit is too large to remember every attempt. The price
// is that it takes the last window's attempts for evenly spread: where they came
// at its end, an interval may hold up to 2·Limit − 1 of them, so leave a margin.
// Windows are aligned to the time since the run began.
type SlidingCounter struct {
	// Limit attempts in each Length, ≥ 1.
	Limit  int64 `rate:"Length" required:"120/min" about:"How many attempts may go in any interval of that length."`
	Length time.Duration
	// Scope is who shares it, PerClient or wider; Name tells those apart that
	// everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (s SlidingCounter) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	switch {
	case s.Limit < 1 || s.Length <= 0:
		return nil, fmt.Errorf("sliding counter: the limit must be positive, not %d per %v", s.Limit, s.Length)
	case s.Limit > int64(strategies.Never)/4/int64(s.Length):
		return nil, fmt.Errorf("sliding counter: %d per %v overflows; take a shorter interval", s.Limit, s.Length)
	}
	if err := s.Scope.CheckShared(s.Name); err != nil {
		return nil, fmt.Errorf("sliding counter: %w", err)
	}
	id, err := b.Pool(twoCounters{s.Limit, int64(s.Length)}, s.Scope, "sliding counter "+s.Name)
	if err != nil {
		return nil, err
	}
	return b.Spend("sliding counter", id, inner)
}

// twoCounters is the pool of a SlidingCounter. Its words are the number of the
// current window and the counts of it and of the one before.
type twoCounters struct{ limit, per int64 }

// Words implements Pool.
func (twoCounters) Words() int { return 3 }

// TryTake implements Pool.
func (k twoCounters) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	window, units := int64(now)/k.per, int64(n)
	switch window - m[0] {
	case 0:
	case 1:
		m[0], m[1], m[2] = window, 0, m[1]
	default:
		m[0], m[1], m[2] = window, 0, 0
	}
	if units > k.limit {
		return false, strategies.Never
	}
	begun := window * k.per
	// In this window, if what it holds leaves room; else in the next, of which
	// this one is then the last.
	ready := saturating.Add(time.Duration(begun), time.Duration(k.per))
	if room := k.limit - m[1] - units; room >= 0 {
		ready = time.Duration(begun + k.from(room, m[2]))
	} else {
		ready = saturating.Add(ready, time.Duration(k.from(k.limit-units, m[1])))
	}
	if now < ready {
		return false, ready
	}
	m[1] += units
	return true, now
}

// from is how far a window must have run for the last one's count to weigh no
// more than room.
func (k twoCounters) from(room, last int64) int64 {
	if last <= room {
		return 0
	}
	return k.per - room*k.per/last
}

// Put implements Pool.
func (k twoCounters) Put(now time.Duration, m []int64, n uint32) {
	if int64(now)/k.per == m[0] {
		m[1] = max(0, m[1]-int64(n))
	}
}
