package backoffs

import (
	"errors"
	"time"

	"herdlab/strategies"
)

// Exponential waits min(Cap, Base·Factorⁿ) + U(0, Jitter) before retry n = 0, 1, ….
// Use it for a single client. Half a second of jitter on a wait of a minute does not
// spread a herd: prefer FullJitter or EqualJitter for many clients.
type Exponential struct {
	// Base is the wait before the first retry and must be positive. Cap bounds the
	// wait before jitter is added; 0 means no bound.
	Base time.Duration `required:"1s" about:"The wait before the first retry."`
	Cap  time.Duration `without:"there is no bound" about:"The longest wait before jitter is added."`
	// Jitter is the width of the uniform jitter. A wait may exceed Cap by up to
	// Jitter; Capped bounds the sum.
	Jitter time.Duration `default:"0s" about:"The width of the uniform jitter that is added to the wait."`
	// Factor multiplies the wait for each retry, from 1 to 1000; 0 means 2.
	Factor float64 `unit:"times" default:"2" about:"By what each wait is multiplied, at least 1."`
}

// Validate reports an error if Base is not positive, Cap or Jitter is negative, or
// Factor is out of range.
func (x Exponential) Validate() error {
	if x.Jitter < 0 {
		return errors.New("exponential: jitter must not be negative")
	}
	return validateGrowth("exponential", x.Base, x.Cap, x.Factor)
}

// Delay implements strategies.Backoff.
func (x Exponential) Delay(c *strategies.Call, p strategies.Purpose, retry int64, _ time.Duration) (base, jitter time.Duration) {
	return geometric(x.Base, x.Factor, retry, x.Cap), c.Uniform(p, 0, x.Jitter)
}
