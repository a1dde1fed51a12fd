package backoffs

import (
	"errors"
	"math/bits"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Linear waits First, First + Step, First + 2·Step … up to Cap, plus a uniform
// jitter of constant width on top. It is right between Fixed and Exponential:
// where a provider comes back within a known time, doubling soon waits longer
// than that.
type Linear struct {
	// First is the wait before the first retry, Step what each retry adds; Cap
	// bounds the sum, 0 for no bound.
	First time.Duration `default:"0s" about:"The wait before the first retry."`
	Step  time.Duration `default:"0s" about:"What each further retry adds."`
	Cap   time.Duration `without:"there is no bound" about:"The longest wait before jitter is added."`
	// Jitter is the width of what is drawn on top, also of the cap.
	Jitter time.Duration `default:"0s" about:"The width of what is drawn evenly and added to the wait."`
}

// Validate says what is wrong with the backoff.
func (l Linear) Validate() error {
	if l.First < 0 || l.Step < 0 || l.Cap < 0 || l.Jitter < 0 {
		return errors.New("linear backoff: the first wait, the step, the cap and the jitter must not be negative; 0 as the cap means no cap")
	}
	return nil
}

// Delay implements Backoff.
func (l Linear) Delay(c *strategies.Call, p strategies.Purpose, retry int64, _ time.Duration) (base, jitter time.Duration) {
	limit := l.Cap
	if limit == 0 {
		limit = strategies.Never
	}
	base = limit
	if hi, more := bits.Mul64(uint64(l.Step), uint64(retry)); hi == 0 && more <= uint64(strategies.Never) {
		base = min(limit, saturating.Add(l.First, time.Duration(more)))
	}
	return base, c.Uniform(p, 0, l.Jitter)
}
