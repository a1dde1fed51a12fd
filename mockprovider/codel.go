package mockprovider

import (
	"errors"
	"math"
	"time"

	"herdlab/sim/draw"
	"herdlab/sim/saturating"
)

// CoDel sheds requests that have waited too long for too long: once all that
// left the queue for an Interval had waited for Target or more, it drops one,
// and goes on dropping at ever shorter intervals (Interval ÷ √n) until one has
// waited for less. It is the control law of RFC 8289 with requests for packets
// and "no other request waits" for "less than a packet is left". The zero value
// drops nothing.
type CoDel struct {
	Target   time.Duration `default:"0s" about:"The wait that is acceptable."`
	Interval time.Duration `without:"nothing is dropped" about:"How long all must have waited longer before the first is dropped."`
}

// validate reports an error if the parameters are invalid.
func (c *CoDel) validate() error {
	switch {
	case c.Target < 0 || c.Interval < 0 || c.Interval > longest:
		return errors.New("codel: target and interval must not be negative, nor beyond all times")
	case c.Interval == 0 && c.Target > 0:
		return errors.New("codel: it needs an interval, of about twenty targets; leave out the target for no shedding")
	}
	return nil
}

// shedder is the state of a CoDel.
type shedder struct {
	CoDel
	rnd draw.Rand // whose grid times lie on
	// since is when all will have waited too long for an interval; 0 if the
	// last one had not.
	since time.Duration
	// next is when the next is dropped, while dropping; count how many were
	// dropped in this spell, and last where the last spell began to count.
	next        time.Duration
	count, last uint32
	dropping    bool
	spaced      bool // next has moved on since the last drop
}

// drops decides on the job that is first in the queue and for which there is a
// slot. waited is how long it has waited; alone is true if it is the last one.
func (c *shedder) drops(now, waited time.Duration, alone bool) bool {
	if !c.high(now, waited, alone) {
		c.dropping = false
		return false
	}
	if c.dropping {
		if !c.spaced {
			c.next, c.spaced = c.after(c.next), true
		}
		if now < c.next {
			return false
		}
		c.count++
		c.spaced = false
		return true
	}
	// A new spell goes on at the pace of the last if that was not long ago.
	before := c.count - c.last
	c.count = 1
	if before > 1 && now-c.next < 16*min(c.Interval, longest/16) {
		c.count = before
	}
	c.last, c.next = c.count, c.after(now)
	c.dropping, c.spaced = true, true
	return true
}

// high reports whether the waits have been too long for an interval.
func (c *shedder) high(now, waited time.Duration, alone bool) bool {
	switch {
	case waited < c.Target || alone:
		c.since = 0
	case c.since == 0:
		c.since = max(saturating.Add(now, c.Interval), 1)
	default:
		return now >= c.since
	}
	return false
}

// after is the control law: when to drop next after t. Quotient and root are
// correctly rounded on every machine.
func (c *shedder) after(t time.Duration) time.Duration {
	return saturating.Add(t, c.rnd.Scale(c.Interval, 1/math.Sqrt(float64(c.count))))
}
