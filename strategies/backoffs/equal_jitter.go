package backoffs

import (
	"time"

	"herdlab/strategies"
)

// EqualJitter waits e/2 + U(0, e/2) with e = min(Cap, Base·Factorⁿ): half of the
// wait is certain, half is drawn, below the cap too. It is right when some pause
// must be kept. (Brooker 2015, as FullJitter.)
type EqualJitter struct {
	// Base bounds the first wait; Cap bounds all, 0 for no bound.
	Base time.Duration `required:"1s" about:"The bound of the first wait."`
	Cap  time.Duration `without:"there is no bound" about:"The largest bound."`
	// Factor is ≥ 1; 0 means 2.
	Factor float64 `unit:"times" default:"2" about:"By what the bound is multiplied for each retry, at least 1."`
}

// Validate says what is wrong with the backoff.
func (q EqualJitter) Validate() error {
	return validateGrowth("equal jitter", q.Base, q.Cap, q.Factor)
}

// Delay implements Backoff.
func (q EqualJitter) Delay(c *strategies.Call, p strategies.Purpose, retry int64, _ time.Duration) (base, jitter time.Duration) {
	e := geometric(q.Base, q.Factor, retry, q.Cap)
	return e / 2, c.Uniform(p, 0, e-e/2)
}
