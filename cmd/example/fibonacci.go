package main

import (
	"errors"
	"time"

	"herdlab/strategies"
)

// Fibonacci is a backoff of 1, 1, 2, 3, 5, 8 … times Base, at most Cap, and a random
// part of up to Base on top.
type Fibonacci struct {
	Base time.Duration `about:"The wait before the first retry." required:"1s"`
	Cap  time.Duration `about:"The longest wait, without the random part." required:"1m"`
}

// Validate reports an error if a duration is not positive.
func (f Fibonacci) Validate() error {
	if f.Base <= 0 || f.Cap < f.Base {
		return errors.New("fibonacci backoff: the base must be positive and not above the cap")
	}
	return nil
}

// Delay implements strategies.Backoff.
func (f Fibonacci) Delay(c *strategies.Call, p strategies.Purpose, retry int64, _ time.Duration) (base, jitter time.Duration) {
	wait, next := f.Base, f.Base
	for ; retry > 0 && wait < f.Cap; retry-- {
		wait, next = next, wait+next
	}
	return min(wait, f.Cap), c.Uniform(p, 0, f.Base)
}
