package metrics

import (
	"cmp"
	"math"
	"math/bits"
	"time"
)

// Sum128 is an unsigned 128-bit sum of durations in nanoseconds: a million clients
// together can wait for more than the 292 years of a time.Duration. The zero value
// is 0; sums can be compared by ==.
type Sum128 struct{ hi, lo uint64 }

// Add adds d, which must not be negative.
func (t *Sum128) Add(d time.Duration) {
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, uint64(d), 0)
	t.hi += carry
}

// addTimes adds n times d.
func (t *Sum128) addTimes(n uint64, d time.Duration) {
	hi, lo := bits.Mul64(n, uint64(d))
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, lo, 0)
	t.hi += hi + carry
}

// Compare returns −1, 0 or 1 as t is less than, equal to or greater than o.
func (t Sum128) Compare(o Sum128) int {
	return cmp.Or(cmp.Compare(t.hi, o.hi), cmp.Compare(t.lo, o.lo))
}

// Seconds returns the sum in seconds.
func (t Sum128) Seconds() float64 { return t.nanoseconds() / float64(time.Second) }

// Duration returns the sum, or the largest Duration if it is larger.
func (t Sum128) Duration() time.Duration {
	if t.hi > 0 || t.lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(t.lo)
}

func (t Sum128) nanoseconds() float64 { return float64(float64(t.hi)*0x1p64) + float64(t.lo) }

// plus returns t + o.
func (t Sum128) plus(o Sum128) Sum128 {
	lo, carry := bits.Add64(t.lo, o.lo, 0)
	hi, _ := bits.Add64(t.hi, o.hi, carry)
	return Sum128{hi, lo}
}
