// Package saturating adds numbers that may be as large as int64 allows: times,
// lengths of time and counts. A sum that does not fit is the largest number, which
// as a time means never.
package saturating

import "math"

// Add returns a + b, or math.MaxInt64 if that is too large. Both must be ≥ 0.
func Add[T ~int64](a, b T) T {
	if sum := a + b; sum >= a {
		return sum
	}
	return math.MaxInt64
}
