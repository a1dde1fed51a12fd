package backoffs

import (
	"math"
	"time"

	"herdlab/strategies"
)

// PollyJitter is the jittered exponential backoff of Polly, version 2 of its
// decorrelated jitter: with x(t) = 2ᵗ·tanh √(4t) and t = n + U(0, 1), retry n
// waits (x(tₙ) − x(tₙ₋₁))·Base/1.4, at most Cap. The retries of a herd arrive at
// a smooth rate, without gaps or peaks between retry n and retry n+1. Use it where
// that matters more than the bound of a single wait. A wait beyond the cap is cut
// off and loses its jitter. (Polly 8.7, RetryHelper.cs.)
type PollyJitter struct {
	// Base is the scale of the first wait and must be positive. Cap bounds all waits;
	// 0 means no bound.
	Base time.Duration `required:"1s" about:"The scale of the first wait."`
	Cap  time.Duration `without:"there is no bound" about:"The longest wait."`
}

// Validate reports an error if Base is not positive or Cap is negative.
func (j PollyJitter) Validate() error { return validateGrowth("polly_jitter", j.Base, j.Cap, 0) }

// Delay implements strategies.Backoff. The previous draw belongs to the previous
// attempt, so it is drawn again instead of stored.
func (j PollyJitter) Delay(c *strategies.Call, p strategies.Purpose, retry int64, _ time.Duration) (base, jitter time.Duration) {
	limit := j.Cap
	if limit == 0 {
		limit = strategies.Never
	}
	if retry > 100 { // the formula exceeds any duration
		return 0, limit
	}
	rnd := c.Driver().Rand.For(c.ID)
	at := func(n int64, attempt uint32) float64 {
		t := float64(n) + rnd.Float(uint64(attempt)<<32|uint64(p))
		return float64(math.Exp2(t) * math.Tanh(math.Sqrt(float64(4*t))))
	}
	x := at(retry, c.Attempts)
	if retry > 0 {
		x -= at(retry-1, c.Attempts-1)
	}
	wait := float64(float64(x*float64(j.Base)) / 1.4)
	if wait >= float64(limit) {
		return 0, limit
	}
	return 0, time.Duration(wait)
}
