package strategies

import "time"

// DecorrelatedJitter waits min(Cap, U(Base, 3·previous)), the previous wait
// being Base at first: the wait is a random walk that grows with its own luck
// and not with the number of the retry. (Brooker 2015, as FullJitter.)
type DecorrelatedJitter struct {
	// Base is the least wait; Cap bounds all, 0 for no bound.
	Base, Cap time.Duration
}

func (DecorrelatedJitter) remembersPrevious() {}

// Delay implements Backoff.
func (d DecorrelatedJitter) Delay(c *Call, p Purpose, _ int64, prev time.Duration) (base, jitter time.Duration) {
	high := max(prev, d.Base)
	if high > Never/3 {
		high = Never / 3
	}
	wait := c.Uniform(p, d.Base, 3*high)
	if d.Cap > 0 {
		wait = min(wait, d.Cap)
	}
	return d.Base, max(wait-d.Base, 0)
}
