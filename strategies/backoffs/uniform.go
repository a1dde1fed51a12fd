package backoffs

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// Uniform waits a time drawn evenly between Low and High before every retry.
// It is right for patient background work: with a wide range, a herd that
// failed together comes back spread over it.
type Uniform struct {
	// Low ≤ wait < High; Low alone if they are equal.
	Low  time.Duration `default:"0s" about:"The shortest wait."`
	High time.Duration `required:"150s" about:"The longest wait."`
}

// Validate says what is wrong with the backoff.
func (u Uniform) Validate() error {
	if u.Low < 0 || u.High < u.Low {
		return fmt.Errorf("uniform backoff: %v to %v is not a range of waits", u.Low, u.High)
	}
	return nil
}

// Delay implements Backoff.
func (u Uniform) Delay(c *strategies.Call, p strategies.Purpose, _ int64, _ time.Duration) (base, jitter time.Duration) {
	return u.Low, c.Uniform(p, 0, u.High-u.Low)
}
