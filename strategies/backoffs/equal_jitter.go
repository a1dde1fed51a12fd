package backoffs

import (
	"time"

	"herdlab/strategies"
)

// EqualJitter waits e/2 + U(0, e/2) before retry n = 0, 1, …, with
// e = min(Cap, Base·Factorⁿ). Half of the wait is fixed and half is drawn, also at
// the cap. Use it when every retry must be preceded by a pause. (Brooker 2015, as
// FullJitter.)
type EqualJitter struct {
	// Base bounds the first wait and must be positive. Cap bounds all waits; 0 means
	// no bound.
	Base time.Duration `required:"1s" about:"The bound of the first wait."`
	Cap  time.Duration `without:"there is no bound" about:"The largest bound."`
	// Factor multiplies the bound for each retry, from 1 to 1000; 0 means 2.
	Factor float64 `unit:"times" default:"2" about:"By what the bound is multiplied for each retry, at least 1."`
}

// Validate reports an error if Base is not positive, Cap is negative or Factor is
// out of range.
func (q EqualJitter) Validate() error {
	return validateGrowth("equal_jitter", q.Base, q.Cap, q.Factor)
}

// Delay implements strategies.Backoff.
func (q EqualJitter) Delay(c *strategies.Call, p strategies.Purpose, retry int64, _ time.Duration) (base, jitter time.Duration) {
	e := geometric(q.Base, q.Factor, retry, q.Cap)
	return e / 2, c.Uniform(p, 0, e-e/2)
}
