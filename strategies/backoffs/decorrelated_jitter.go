package backoffs

import (
	"time"

	"herdlab/strategies"
)

// DecorrelatedJitter waits min(Cap, U(Base, 3·previous)), the previous wait
// being Base at first: the wait is a random walk that grows with its own luck
// and not with the number of the retry. What the draw takes beyond the cap is
// cut off, so that after many retries most waits are exactly Cap. It is right
// when attempts of one call should not be told by their number. (Brooker 2015,
// as FullJitter.)
type DecorrelatedJitter struct {
	// Base is the least wait; Cap bounds all, 0 for no bound.
	Base time.Duration `required:"1s" about:"The shortest wait."`
	Cap  time.Duration `without:"there is no bound" about:"The longest wait."`
}

// RemembersPrevious implements Remembering.
func (DecorrelatedJitter) RemembersPrevious() {}

// Validate says what is wrong with the backoff.
func (d DecorrelatedJitter) Validate() error {
	return validateGrowth("decorrelated jitter", d.Base, d.Cap, 0)
}

// Delay implements Backoff.
func (d DecorrelatedJitter) Delay(c *strategies.Call, p strategies.Purpose, _ int64, prev time.Duration) (base, jitter time.Duration) {
	low, wait := d.Base, c.Uniform(p, d.Base, 3*min(max(prev, d.Base), strategies.Never/3))
	if d.Cap > 0 {
		low, wait = min(low, d.Cap), min(wait, d.Cap)
	}
	return low, wait - low
}
