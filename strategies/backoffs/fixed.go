package backoffs

import (
	"errors"
	"time"

	"herdlab/strategies"
)

// Fixed waits Every + U(0, Jitter) before each retry. With little or no jitter, use
// it for a single client only: clients that failed together retry together.
type Fixed struct {
	// Every is the wait before each retry; 0 retries at once.
	Every time.Duration `default:"0s" about:"The wait before each retry."`
	// Jitter is the width of the uniform jitter that is added.
	Jitter time.Duration `default:"0s" about:"The width of the uniform jitter that is added to the wait."`
}

// Validate reports an error if Every or Jitter is negative.
func (f Fixed) Validate() error {
	if f.Every < 0 || f.Jitter < 0 {
		return errors.New("fixed: every and jitter must not be negative")
	}
	return nil
}

// Delay implements strategies.Backoff.
func (f Fixed) Delay(c *strategies.Call, p strategies.Purpose, _ int64, _ time.Duration) (base, jitter time.Duration) {
	return f.Every, c.Uniform(p, 0, f.Jitter)
}
