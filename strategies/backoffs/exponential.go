package backoffs

import (
	"errors"
	"time"

	"herdlab/strategies"
)

// Exponential multiplies the wait by Factor from retry to retry, from Base up to
// Cap, and adds a uniform jitter of constant width on top, also of the cap. It is
// right for a client that is alone. Half a second of jitter on a wait of a minute
// leaves a herd together: prefer FullJitter or EqualJitter.
type Exponential struct {
	// Base is the wait before the first retry; Cap bounds it, 0 for no bound.
	Base time.Duration `required:"1s" about:"The wait before the first retry."`
	Cap  time.Duration `without:"there is no bound" about:"The longest wait before jitter is added."`
	// Jitter is the width of what is drawn on top. A wait may exceed Cap by it;
	// Capped bounds the sum.
	Jitter time.Duration `default:"0s" about:"The width of what is drawn evenly and added to the wait."`
	// Factor is ≥ 1; 0 means 2.
	Factor float64 `unit:"times" default:"2" about:"By what each wait is multiplied, at least 1."`
}

// Validate says what is wrong with the backoff.
func (x Exponential) Validate() error {
	if x.Jitter < 0 {
		return errors.New("exponential backoff: the jitter must not be negative")
	}
	return validateGrowth("exponential backoff", x.Base, x.Cap, x.Factor)
}

// Delay implements Backoff.
func (x Exponential) Delay(c *strategies.Call, p strategies.Purpose, retry int64, _ time.Duration) (base, jitter time.Duration) {
	return geometric(x.Base, x.Factor, retry, x.Cap), c.Uniform(p, 0, x.Jitter)
}
