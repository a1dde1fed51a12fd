package backoffs

import (
	"errors"
	"math/bits"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Linear waits min(Cap, First + n·Step) + U(0, Jitter) before retry n = 0, 1, …. It
// lies between Fixed and Exponential. Use it where a provider recovers within a known
// time: doubled waits soon exceed that time.
type Linear struct {
	// First is the wait before the first retry, and Step is added for each further
	// retry. Cap bounds their sum; 0 means no bound.
	First time.Duration `default:"0s" about:"The wait before the first retry."`
	Step  time.Duration `default:"0s" about:"The time that each further retry adds."`
	Cap   time.Duration `without:"there is no bound" about:"The longest wait before jitter is added."`
	// Jitter is the width of the uniform jitter. A wait may exceed Cap by up to
	// Jitter.
	Jitter time.Duration `default:"0s" about:"The width of the uniform jitter that is added to the wait."`
}

// Validate reports an error if a duration is negative.
func (l Linear) Validate() error {
	if l.First < 0 || l.Step < 0 || l.Cap < 0 || l.Jitter < 0 {
		return errors.New("linear: first, step, cap and jitter must not be negative; cap 0 means no bound")
	}
	return nil
}

// Delay implements strategies.Backoff.
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
