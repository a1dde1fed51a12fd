// Package saturating adds and multiplies numbers that may be as large as int64 allows: times,
// lengths of time and counts. A result that does not fit is the largest number, which
// as a time means never.
package saturating

import (
	"math"
	"math/bits"
)

// Add returns a + b, or math.MaxInt64 if that is too large. Both must be ≥ 0.
func Add[T ~int64](a, b T) T {
	if sum := a + b; sum >= a {
		return sum
	}
	return math.MaxInt64
}

// Mul returns a × b, or math.MaxInt64 if that is too large. Both must be ≥ 0.
func Mul[T ~int64](a, b T) T {
	if hi, lo := bits.Mul64(uint64(a), uint64(b)); hi == 0 && lo <= math.MaxInt64 {
		return T(lo)
	}
	return math.MaxInt64
}
