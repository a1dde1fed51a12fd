package metrics

import (
	"cmp"
	"math"
	"math/bits"
	"time"
)

// Total is an unsigned 128-bit sum of times in nanoseconds: together, a million
// clients wait for more than the 292 years of a time.Duration. The zero value
// is 0, and == compares.
type Total struct{ hi, lo uint64 }

// Add adds d, which must not be negative.
func (t *Total) Add(d time.Duration) {
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, uint64(d), 0)
	t.hi += carry
}

// addTimes adds n times d.
func (t *Total) addTimes(n uint64, d time.Duration) {
	hi, lo := bits.Mul64(n, uint64(d))
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, lo, 0)
	t.hi += hi + carry
}

// Compare returns −1, 0 or 1 as t is less than, equal to or greater than o.
func (t Total) Compare(o Total) int {
	return cmp.Or(cmp.Compare(t.hi, o.hi), cmp.Compare(t.lo, o.lo))
}

// Seconds returns the total in seconds.
func (t Total) Seconds() float64 { return t.nanoseconds() / float64(time.Second) }

// Duration returns the total, or the largest Duration if it is more.
func (t Total) Duration() time.Duration {
	if t.hi > 0 || t.lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(t.lo)
}

func (t Total) nanoseconds() float64 { return float64(float64(t.hi)*0x1p64) + float64(t.lo) }

// plus returns t + o.
func (t Total) plus(o Total) Total {
	lo, carry := bits.Add64(t.lo, o.lo, 0)
	hi, _ := bits.Add64(t.hi, o.hi, carry)
	return Total{hi, lo}
}
