package backoffs

import (
	"errors"
	"time"

	"herdlab/strategies"
)

// Fixed waits the same time before every retry, plus a uniform jitter on top.
// With little or no jitter it is right for a single client only: everybody who
// failed together comes back together.
type Fixed struct {
	// Every is the wait that all retries share; 0 retries at once.
	Every time.Duration `default:"0s" about:"The wait before each retry."`
	// Jitter is the width of what is drawn on top.
	Jitter time.Duration `default:"0s" about:"The width of what is drawn evenly and added to the wait."`
}

// Validate says what is wrong with the backoff.
func (f Fixed) Validate() error {
	if f.Every < 0 || f.Jitter < 0 {
		return errors.New("fixed backoff: the wait and its jitter must not be negative")
	}
	return nil
}

// Delay implements Backoff.
func (f Fixed) Delay(c *strategies.Call, p strategies.Purpose, _ int64, _ time.Duration) (base, jitter time.Duration) {
	return f.Every, c.Uniform(p, 0, f.Jitter)
}
