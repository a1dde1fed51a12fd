package backoffs

import (
	"math"
	"time"

	"herdlab/strategies"
)

// PollyJitter is the jittered exponential backoff of Polly, version 2 of its
// decorrelated jitter: with x(t) = 2ᵗ·tanh √(4t) and t = n + U(0, 1), retry n
// waits (x(tₙ) − x(tₙ₋₁))·Base/1.4, at most Cap. The retries of a herd come as
// one smooth stream, without gaps or peaks between their numbers; it is right
// where that matters more than the bound of a single wait. What exceeds the cap
// is cut off, so there the jitter is lost. (Polly 8.7, RetryHelper.cs.)
type PollyJitter struct {
	// Base is the scale of the first wait; Cap bounds all, 0 for no bound.
	Base time.Duration `required:"1s" about:"The scale of the first wait."`
	Cap  time.Duration `without:"there is no bound" about:"The longest wait."`
}

// Validate says what is wrong with the backoff.
func (j PollyJitter) Validate() error { return validateGrowth("Polly's jitter", j.Base, j.Cap, 0) }

// Delay implements Backoff. The draw before this one belongs to the attempt
// before this one, so it can be drawn again and need not be remembered.
func (j PollyJitter) Delay(c *strategies.Call, p strategies.Purpose, retry int64, _ time.Duration) (base, jitter time.Duration) {
	limit := j.Cap
	if limit == 0 {
		limit = strategies.Never
	}
	if retry > 100 { // beyond any duration
		return 0, limit
	}
	luck := c.Driver().Rand.For(c.ID)
	at := func(n int64, attempt uint32) float64 {
		t := float64(n) + luck.Float(uint64(attempt)<<32|uint64(p))
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
