package backoffs

import (
	"errors"
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Proportional multiplies the wait of another backoff by a factor drawn evenly
// between Low and High per cent: 75 to 100 takes up to a quarter off, 50 to 150
// is ± half. The jitter grows with the wait, as it must to spread a herd after a
// long one; it lies on what Of has capped, so a wait may reach High per cent of
// Of's cap (cenkalti/backoff#117). It is right where Of's schedule should stay
// recognisable; FullJitter spreads more.
type Proportional struct {
	// Of is the backoff without jitter of its own, such as Fixed or Exponential.
	Of strategies.Backoff `required:"{exponential: {base: 1s}}" about:"The backoff whose wait is multiplied."`
	// Low and High are in per cent, 0 ≤ Low ≤ High ≤ 1000.
	Low  int `unit:"%" most:"1000" about:"The smallest factor."`
	High int `unit:"%" most:"1000" about:"The largest factor."`
}

// PlusMinus returns the backoff that draws evenly within ± p per cent of b.
func PlusMinus(b strategies.Backoff, p int) Proportional {
	return Proportional{Of: b, Low: 100 - p, High: 100 + p}
}

// Validate says what is wrong with the backoff.
func (x Proportional) Validate() error {
	if x.Low < 0 || x.High < x.Low || x.High > 1000 {
		return fmt.Errorf("proportional jitter: %d to %d %% is no range within 0 to 1000 %%", x.Low, x.High)
	}
	return validateInner("proportional jitter", x.Of)
}

// Delay implements Backoff.
func (x Proportional) Delay(c *strategies.Call, p strategies.Purpose, retry int64, prev time.Duration) (base, jitter time.Duration) {
	base, jitter = x.Of.Delay(c, p.Second(), retry, prev)
	wait := saturating.Add(base, jitter)
	low, high := saturating.Percent(wait, x.Low), saturating.Percent(wait, x.High)
	return low, c.Uniform(p, 0, high-low)
}

// validateInner says what is wrong with a backoff inside another.
func validateInner(name string, b strategies.Backoff) error {
	switch b.(type) {
	case nil:
		return errors.New(name + ": it needs a backoff inside")
	case strategies.Remembering, strategies.Discerning:
		return fmt.Errorf("%s: a %T inside would not be told what it needs; put it outside", name, b)
	}
	return strategies.ValidateBackoff(b)
}
