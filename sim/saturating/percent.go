package saturating

import "math"

// Percent returns n per cent of x, rounded down, or math.MaxInt64 if that is too
// large. Both must be ≥ 0.
func Percent[T ~int64](x T, n int) T {
	whole, rest := x/100, x%100
	if n > 0 && whole > (math.MaxInt64-100*T(n))/T(n) {
		return math.MaxInt64
	}
	return whole*T(n) + rest*T(n)/100
}
