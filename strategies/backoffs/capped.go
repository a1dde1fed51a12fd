package backoffs

import (
	"errors"
	"time"

	"herdlab/strategies"
)

// Capped bounds the whole wait of another backoff, its jitter included. It is
// right where a longest wait has been promised. Mind what it does to a herd: once
// Of's base has reached the cap nothing is left of the jitter, and everybody
// waits exactly that long (ferd/backoff#8). A cap inside Of keeps the jitter, on
// top of it or below.
type Capped struct {
	Of  strategies.Backoff `required:"{exponential: {base: 1s}}" about:"The backoff whose wait is bounded."`
	Cap time.Duration      `required:"1m" about:"The longest wait."`
}

// Validate says what is wrong with the backoff.
func (x Capped) Validate() error {
	if x.Cap <= 0 {
		return errors.New("capped backoff: the cap must be positive")
	}
	return validateInner("capped backoff", x.Of)
}

// Delay implements Backoff.
func (x Capped) Delay(c *strategies.Call, p strategies.Purpose, retry int64, prev time.Duration) (base, jitter time.Duration) {
	base, jitter = x.Of.Delay(c, p, retry, prev)
	base = min(base, x.Cap)
	return base, min(jitter, x.Cap-base)
}
