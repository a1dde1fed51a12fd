package backoffs

import (
	"errors"
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Proportional multiplies the wait of another backoff by a factor drawn uniformly
// between Low and High per cent: 75 to 100 subtracts up to a quarter, 50 to 150 is
// ±50 %. The jitter grows with the wait, which is needed to spread a herd after a
// long wait. It applies after the cap of Of, so a wait may reach High per cent of
// that cap (cenkalti/backoff#117). Use it where the waits should stay close to the
// schedule of Of; FullJitter spreads more.
type Proportional struct {
	// Of is the backoff to multiply, usually one without jitter, such as Fixed or
	// Exponential.
	Of strategies.Backoff `required:"{exponential: {base: 1s}}" about:"The backoff whose wait is multiplied."`
	// Low and High are in per cent, 0 ≤ Low ≤ High ≤ 1000.
	Low  int `unit:"%" most:"1000" about:"The smallest factor."`
	High int `unit:"%" most:"1000" about:"The largest factor."`
}

// PlusMinus returns a backoff whose waits are uniform within ± p per cent of those
// of b.
func PlusMinus(b strategies.Backoff, p int) Proportional {
	return Proportional{Of: b, Low: 100 - p, High: 100 + p}
}

// Validate reports an error if Low and High are not a range within 0 to 1000 %, or if
// Of is missing or invalid.
func (x Proportional) Validate() error {
	if x.Low < 0 || x.High < x.Low || x.High > 1000 {
		return fmt.Errorf("proportional: low %d %% and high %d %% are not a range; use 0 %% ≤ low ≤ high ≤ 1000 %%", x.Low, x.High)
	}
	return validateInner("proportional: of", x.Of)
}

// Delay implements strategies.Backoff.
func (x Proportional) Delay(c *strategies.Call, p strategies.Purpose, retry int64, prev time.Duration) (base, jitter time.Duration) {
	base, jitter = x.Of.Delay(c, p.Second(), retry, prev)
	wait := saturating.Add(base, jitter)
	low, high := saturating.Percent(wait, x.Low), saturating.Percent(wait, x.High)
	return low, c.Uniform(p, 0, high-low)
}

// validateInner reports an error if b, a backoff inside another, is missing or invalid,
// or needs the previous wait or the class of the failure, which only the outermost
// backoff receives.
func validateInner(name string, b strategies.Backoff) error {
	switch b.(type) {
	case nil:
		return errors.New(name + ": give a backoff")
	case strategies.Remembering, strategies.Discerning:
		return fmt.Errorf("%s: %T does not work inside another backoff; make it the outermost one", name, b)
	}
	return strategies.ValidateBackoff(b)
}
