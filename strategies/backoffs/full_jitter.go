package backoffs

import (
	"time"

	"herdlab/strategies"
)

// FullJitter waits U(0, min(Cap, Base·Factorⁿ)) before retry n = 0, 1, …: the
// whole wait is drawn, below the cap too. It is the plainest strategy that
// spreads a herd, and right wherever one may come back early; a hint of the
// provider is kept to all the same. (M. Brooker, "Exponential Backoff And Jitter", AWS
// Architecture Blog, 2015; there the exponent starts at 1.)
type FullJitter struct {
	// Base bounds the first wait; Cap bounds all, 0 for no bound.
	Base time.Duration `required:"1s" about:"The bound of the first wait."`
	Cap  time.Duration `without:"there is no bound" about:"The largest bound."`
	// Factor is ≥ 1; 0 means 2.
	Factor float64 `unit:"times" default:"2" about:"By what the bound is multiplied for each retry, at least 1."`
}

// Validate says what is wrong with the backoff.
func (f FullJitter) Validate() error {
	return validateGrowth("full jitter", f.Base, f.Cap, f.Factor)
}

// Delay implements Backoff.
func (f FullJitter) Delay(c *strategies.Call, p strategies.Purpose, retry int64, _ time.Duration) (base, jitter time.Duration) {
	if f.Factor == 0 { // the usual growth, in place
		return 0, c.Uniform(p, 0, doubled(f.Base, retry, f.Cap))
	}
	return 0, c.Uniform(p, 0, geometric(f.Base, f.Factor, retry, f.Cap))
}
