package serve

import (
	"math"
	"time"

	"github.com/jonboulle/clockwork"
)

// clock is the provider's clock: the time since start on a clockwork.Clock, times
// scale.
type clock struct {
	clockwork.Clock
	start time.Time
	scale float64 // seconds of the provider per second of Clock
	epoch int64   // Unix time on the provider's clock at its time 0
}

// now returns the provider's time.
func (c *clock) now() time.Duration { return c.scaled(c.Since(c.start)) }

func (c *clock) scaled(d time.Duration) time.Duration {
	if c.scale == 1 {
		return d
	}
	if s := float64(d) * c.scale; s < math.MaxInt64/4 {
		return time.Duration(s)
	}
	return math.MaxInt64 / 4
}

// until returns the duration on Clock until the provider's time is at. It is rounded
// up, so that a timer is never early.
func (c *clock) until(at time.Duration) time.Duration {
	return c.real(at - c.now())
}

// real returns the duration on Clock of d ≥ 0 of the provider's time.
func (c *clock) real(d time.Duration) time.Duration {
	switch {
	case d <= 0:
		return 0
	case c.scale == 1:
		return d
	}
	if s := math.Ceil(float64(d) / c.scale); s < math.MaxInt64/4 {
		return time.Duration(s)
	}
	return math.MaxInt64 / 4
}

// wall returns the date and time on the provider's clock.
func (c *clock) wall(at time.Duration) time.Time { return time.Unix(c.epoch, 0).UTC().Add(at) }
