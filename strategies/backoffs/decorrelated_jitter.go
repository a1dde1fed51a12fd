package backoffs

import (
	"time"

	"herdlab/strategies"
)

// DecorrelatedJitter waits min(Cap, U(Base, 3·previous)), where previous is Base
// before the first retry. The wait is a random walk that depends on earlier draws
// and not on the number of the retry. A draw beyond the cap is cut off, so after
// many retries most waits are exactly Cap. Use it when the length of a wait should
// not show how many attempts a call has made. (Brooker 2015, as FullJitter.)
type DecorrelatedJitter struct {
	// Base is the shortest wait and must be positive. Cap is the longest wait; 0
	// means no bound.
	Base time.Duration `required:"1s" about:"The shortest wait."`
	Cap  time.Duration `without:"there is no bound" about:"The longest wait."`
}

// RemembersPrevious implements strategies.Remembering.
func (DecorrelatedJitter) RemembersPrevious() {}

// Validate reports an error if Base is not positive or Cap is negative.
func (d DecorrelatedJitter) Validate() error {
	return validateGrowth("decorrelated_jitter", d.Base, d.Cap, 0)
}

// Delay implements strategies.Backoff.
func (d DecorrelatedJitter) Delay(c *strategies.Call, p strategies.Purpose, _ int64, prev time.Duration) (base, jitter time.Duration) {
	low, wait := d.Base, c.Uniform(p, d.Base, 3*min(max(prev, d.Base), strategies.Never/3))
	if d.Cap > 0 {
		low, wait = min(low, d.Cap), min(wait, d.Cap)
	}
	return low, wait - low
}
