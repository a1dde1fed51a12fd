package strategies

import "time"

// Uniform waits a time drawn evenly between Low and High before every retry.
// It is right for patient background work: with a wide range, a herd that
// failed together comes back spread over it.
type Uniform struct {
	Low, High time.Duration
}

// Delay implements Backoff.
func (u Uniform) Delay(c *Call, p Purpose, _ int64, _ time.Duration) (base, jitter time.Duration) {
	return u.Low, c.Uniform(p, 0, u.High-u.Low)
}
