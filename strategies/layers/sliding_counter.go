package layers

import (
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// SlidingCounter approximates a SlidingLog by two counters: the count of the
// current window, and that of the last one weighted by the share that an interval
// ending now still covers. An attempt goes when the weighted sum with it is at most
// Limit, and waits until then.
//
// Use it where the limit is too large to remember every attempt. It assumes that
// the attempts of the last window were evenly spread: if they came at its end, an
// interval may hold up to 2·Limit − 1 of them, so leave a margin. Windows are
// aligned to the beginning of the run.
type SlidingCounter struct {
	// Limit is the number of attempts that may go in any interval of length Length;
	// both must be positive.
	Limit  int64 `rate:"Length" required:"120/min" about:"How many attempts may go in any interval of that length."`
	Length time.Duration
	// Scope sets which clients share the limit, PerClient or wider. Name identifies
	// a limit with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (s SlidingCounter) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	switch {
	case s.Limit < 1 || s.Length <= 0:
		return nil, fmt.Errorf("sliding counter: rate must be positive, not %d per %v", s.Limit, s.Length)
	case s.Limit > int64(strategies.Never)/4/int64(s.Length):
		return nil, fmt.Errorf("sliding counter: a rate of %d per %v overflows; write it with a shorter interval", s.Limit, s.Length)
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
// current window and the counts of the current and the last window.
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
	// The attempt goes in this window if the count leaves room, otherwise in the
	// next, for which this window is the last one.
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

// from returns the time since the beginning of a window at which the weighted count
// of the last window is at most room.
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
