package backoffs

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// Uniform waits U(Low, High) before each retry. Use it for background work that can
// wait: with a wide range, a herd that failed together retries spread over the range.
type Uniform struct {
	// Low ≤ wait < High; the wait is Low if they are equal.
	Low  time.Duration `default:"0s" about:"The shortest wait."`
	High time.Duration `required:"150s" about:"The longest wait."`
}

// Validate reports an error unless 0 ≤ Low ≤ High.
func (u Uniform) Validate() error {
	if u.Low < 0 || u.High < u.Low {
		return fmt.Errorf("uniform: low %v and high %v are not a range; use 0s ≤ low ≤ high", u.Low, u.High)
	}
	return nil
}

// Delay implements strategies.Backoff.
func (u Uniform) Delay(c *strategies.Call, p strategies.Purpose, _ int64, _ time.Duration) (base, jitter time.Duration) {
	return u.Low, c.Uniform(p, 0, u.High-u.Low)
}
