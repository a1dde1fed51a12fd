package backoffs

import (
	"time"

	"herdlab/strategies"
)

// FullJitter waits U(0, min(Cap, Base·Factorⁿ)) before retry n = 0, 1, …: the
// whole wait is drawn, also at the cap. It is the simplest backoff that spreads a
// herd. Use it wherever an early retry is allowed; a hint of the provider is still
// the shortest wait. (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture
// Blog, 2015; there the exponent starts at 1.)
type FullJitter struct {
	// Base bounds the first wait and must be positive. Cap bounds all waits; 0 means
	// no bound.
	Base time.Duration `required:"1s" about:"The bound of the first wait."`
	Cap  time.Duration `without:"there is no bound" about:"The largest bound."`
	// Factor multiplies the bound for each retry, from 1 to 1000; 0 means 2.
	Factor float64 `unit:"times" default:"2" about:"By what the bound is multiplied for each retry, at least 1."`
}

// Validate reports an error if Base is not positive, Cap is negative or Factor is
// out of range.
func (f FullJitter) Validate() error {
	return validateGrowth("full_jitter", f.Base, f.Cap, f.Factor)
}

// Delay implements strategies.Backoff.
func (f FullJitter) Delay(c *strategies.Call, p strategies.Purpose, retry int64, _ time.Duration) (base, jitter time.Duration) {
	if f.Factor == 0 { // a shortcut for the default factor
		return 0, c.Uniform(p, 0, doubled(f.Base, retry, f.Cap))
	}
	return 0, c.Uniform(p, 0, geometric(f.Base, f.Factor, retry, f.Cap))
}
