package serve

import (
	"math"
	"time"

	"github.com/jonboulle/clockwork"
)

// clock is the provider's time: that of a clockwork.Clock since a moment, at a
// multiple of its speed.
type clock struct {
	clockwork.Clock
	start time.Time
	scale float64 // how many seconds the provider has in one of the clock's
	epoch int64   // the Unix time that the provider's clock shows when its time is 0
}

// now is the provider's time.
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

// until is how long the clock goes until the provider's time is at, rounded up,
// so that who wakes then is not early.
func (c *clock) until(at time.Duration) time.Duration {
	return c.real(at - c.now())
}

// real is how long d ≥ 0 of the provider's time takes.
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

// wall is the date and time that the provider's clock shows.
func (c *clock) wall(at time.Duration) time.Time { return time.Unix(c.epoch, 0).UTC().Add(at) }
