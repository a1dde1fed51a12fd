package layers

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// LimitRange bounds an adaptive limit on concurrency.
type LimitRange struct {
	// Initial is the limit at the beginning; Min and Max bound it. 0 means the
	// default of the layer. 1 ≤ Min ≤ Initial ≤ Max ≤ MaxLimit.
	Initial int64 `unit:"attempts" most:"1000000" about:"The limit on attempts in flight at the beginning."`
	Min     int64 `unit:"attempts" most:"1000000" about:"The least that the limit may become."`
	Max     int64 `unit:"attempts" most:"1000000" about:"The most that the limit may become."`
}

// MaxLimit bounds adaptive limits on concurrency.
const MaxLimit = 1_000_000

// or returns l with the defaults of the layer for fields that are 0, and an error
// if the bounds are invalid.
func (l LimitRange) or(initial, least, most int64) (LimitRange, error) {
	if l.Min == 0 {
		l.Min = least
		if l.Initial > 0 {
			l.Min = min(least, l.Initial)
		}
	}
	if l.Initial == 0 {
		l.Initial = max(l.Min, initial)
		if l.Max > 0 {
			l.Initial = min(l.Initial, l.Max)
		}
	}
	if l.Max == 0 {
		l.Max = max(most, l.Initial)
	}
	if l.Min < 1 || l.Initial < l.Min || l.Max < l.Initial || l.Max > MaxLimit {
		return l, fmt.Errorf("initial, min and max must be 1 ≤ min ≤ initial ≤ max ≤ %d, not %d, %d and %d",
			MaxLimit, l.Initial, l.Min, l.Max)
	}
	return l, nil
}

// one is a whole permit in the fixed-point numbers of an adaptive limit.
const one = 1_000_000

// adaptiveLimit is the pool of an adaptive limit on concurrency. Its words are the
// number of permits in use and the difference between the limit and its initial
// value, in millionths of a permit, so that zeroed memory is a new pool; those of
// the limitUpdater follow.
type adaptiveLimit struct {
	LimitRange
	more int // words of the limitUpdater
}

// The words of an adaptiveLimit.
const (
	inUse = iota
	moved
	tuning // the first of the limitUpdater
)

// Words implements Pool.
func (p adaptiveLimit) Words() int { return tuning + p.more }

// TryTake implements Pool.
func (p adaptiveLimit) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	if (m[inUse]+int64(n))*one > p.limit(m) {
		return false, strategies.Never
	}
	m[inUse] += int64(n)
	return true, now
}

// Put implements Pool.
func (adaptiveLimit) Put(_ time.Duration, m []int64, n uint32) { m[inUse] -= int64(n) }

// limit returns the current limit in millionths of a permit.
func (p adaptiveLimit) limit(m []int64) int64 { return p.Initial*one + m[moved] }

// set changes the limit, within its bounds.
func (p adaptiveLimit) set(m []int64, limit int64) {
	m[moved] = min(max(limit, p.Min*one), p.Max*one) - p.Initial*one
}

// pressed reports whether at least half of the limit is in use. If less is in use,
// successes do not show that the limit may rise.
func (p adaptiveLimit) pressed(m []int64) bool { return 2*m[inUse]*one >= p.limit(m) }
