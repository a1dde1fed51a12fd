package backoffs

import (
	"errors"
	"time"

	"herdlab/strategies"
)

// Capped bounds the whole wait of another backoff, its jitter included. Use it
// where a longest wait is guaranteed. It can synchronise a herd: when the base of
// Of reaches the cap, no jitter is left, and all clients wait exactly Cap
// (ferd/backoff#8). A cap inside Of keeps the jitter: Exponential adds it to the
// cap, FullJitter and EqualJitter draw it below the cap.
type Capped struct {
	Of  strategies.Backoff `required:"{exponential: {base: 1s}}" about:"The backoff whose wait is bounded."`
	Cap time.Duration      `required:"1m" about:"The longest wait."`
}

// Validate reports an error if Cap is not positive, or if Of is missing or invalid.
func (x Capped) Validate() error {
	if x.Cap <= 0 {
		return errors.New("capped: cap must be positive")
	}
	return validateInner("capped: of", x.Of)
}

// Delay implements strategies.Backoff.
func (x Capped) Delay(c *strategies.Call, p strategies.Purpose, retry int64, prev time.Duration) (base, jitter time.Duration) {
	base, jitter = x.Of.Delay(c, p, retry, prev)
	base = min(base, x.Cap)
	return base, min(jitter, x.Cap-base)
}
