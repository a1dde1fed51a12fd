package backoffs

import (
	"fmt"
	"math"
	"time"

	"herdlab/strategies"
)

// geometric returns min(limit, base·factorⁿ), rounded to a nanosecond. Limit 0 means
// strategies.Never, factor 0 means 2. The result saturates for any n.
func geometric(base time.Duration, factor float64, n int64, limit time.Duration) time.Duration {
	if factor == 0 {
		return doubled(base, n, limit)
	}
	return multiplied(base, factor, n, limit)
}

// multiplied is geometric for any factor. It computes the power by squaring because
// products, unlike math.Pow, round the same on all machines.
func multiplied(base time.Duration, factor float64, n int64, limit time.Duration) time.Duration {
	if limit <= 0 {
		limit = strategies.Never
	}
	x := float64(base)
	for power := factor; n > 0 && x < float64(limit); n >>= 1 {
		if n&1 == 1 {
			x = float64(x * power)
		}
		power = float64(power * power)
	}
	if x >= float64(limit) {
		return limit
	}
	return time.Duration(math.Round(x))
}

// doubled returns min(limit, base·2ⁿ); limit 0 means strategies.Never. It never
// overflows: base·2ⁿ > limit exactly if base > ⌊limit/2ⁿ⌋.
func doubled(base time.Duration, n int64, limit time.Duration) time.Duration {
	if limit <= 0 {
		limit = strategies.Never
	}
	if base > limit>>uint(n) {
		return limit
	}
	return base << uint(n)
}

// validateGrowth reports an error if base is not positive, limit is negative or factor
// is neither 0 nor from 1 to 1000. The error names the backoff.
func validateGrowth(name string, base, limit time.Duration, factor float64) error {
	switch {
	case base <= 0:
		return fmt.Errorf("%s: base must be positive, not %v", name, base)
	case limit < 0:
		return fmt.Errorf("%s: cap must not be negative; 0 means no bound", name)
	case factor != 0 && !(factor >= 1 && factor <= 1000): // nor NaN
		return fmt.Errorf("%s: factor must be from 1 to 1000, not %v; 0 means 2", name, factor)
	}
	return nil
}
