package mockprovider

import (
	"math/bits"
	"time"

	"herdlab/mockprovider/wire"
)

// SlidingCounter approximates a sliding log with two counters: this window's,
// and the last one's weighted by how much of it a window that ends now would
// still cover. A request is let in if the weighted sum with it is at most
// Limit. Windows are aligned to the provider's clock; requests it refuses are
// not counted.
//
// The weight takes the last window's requests for evenly spread. Where they
// came at its end, an interval of length Length may see up to 2·Limit − 1; an
// aligned window never sees more than Limit.
type SlidingCounter struct {
	Limit  int32
	Length time.Duration
	Terms
}

// Validate implements Limit.
func (c SlidingCounter) Validate() error {
	return validateCount("sliding counter", c.Limit, c.Length, c.Terms)
}

// Bound implements Limit. After a window with any request in it, the next
// never gets to the full limit, because its weight is not 0 until the window is
// over: so in the long run it is Limit − 1 in each, or 1 in two.
func (c SlidingCounter) Bound(load Load) Bound {
	keys := int64(c.Per.keys(load.Space))
	if c.Limit == 1 {
		return Bound{Count: keys, Per: later(c.Length, c.Length)}
	}
	return Bound{Count: int64(c.Limit-1) * keys, Per: c.Length}
}

// Gate implements Limit.
func (c SlidingCounter) Gate(space Space) Gate {
	return &slidingCounter{SlidingCounter: c, keying: c.Per.keying(space), keys: make([]twoBuckets, c.Per.keys(space))}
}

// twoBuckets are the counts of the window that began at start and of the one
// before it.
type twoBuckets struct {
	start      time.Duration
	last, used int32
}

type slidingCounter struct {
	SlidingCounter
	keying
	keys []twoBuckets
}

// Take implements Gate.
func (c *slidingCounter) Take(now time.Duration, r *wire.Request) bool {
	k := &c.keys[c.of(r)]
	if since := now - k.start; since >= c.Length {
		if k.last = k.used; since-c.Length >= c.Length {
			k.last = 0
		}
		k.used, k.start = 0, now-now%c.Length
	}
	// last × (what is left of the window) ÷ length + used + 1 ≤ limit
	left := c.Length - (now - k.start)
	hi, lo := bits.Mul64(uint64(k.last), uint64(left))
	roomHi, roomLo := c.room(k)
	if k.used >= c.Limit || hi > roomHi || hi == roomHi && lo > roomLo {
		return false
	}
	k.used++
	return true
}

// room is how much the last window may weigh for another request to be let in,
// times the length: (limit − 1 − used) × length. It is only right where used is
// below the limit.
func (c *slidingCounter) room(k *twoBuckets) (hi, lo uint64) {
	return bits.Mul64(uint64(c.Limit-1-k.used), uint64(c.Length))
}

// Refuse implements Gate. If nobody else is let in, there is room when the last
// window weighs little enough; where this one is full, that is in the next,
// whose last this one is.
func (c *slidingCounter) Refuse(now time.Duration, r *wire.Request, to *wire.Reply) {
	k := &c.keys[c.of(r)]
	ready := c.Length - (now - k.start) // until this window is over
	if k.used < c.Limit {
		hi, lo := c.room(k)
		enough, _ := bits.Div64(hi, lo, uint64(k.last)) // less than ready: Take has just compared them
		ready -= time.Duration(enough)
	} else {
		// used × left ≤ (limit − 1) × length, with used = limit.
		hi, lo := bits.Mul64(uint64(c.Limit-1), uint64(c.Length))
		enough, _ := bits.Div64(hi, lo, uint64(c.Limit))
		ready = later(ready, c.Length-time.Duration(enough))
	}
	c.Refusal.reply(to, wire.Rate, ready, c.Limit, 0)
}

// Undo implements Gate.
func (c *slidingCounter) Undo(_ time.Duration, r *wire.Request, keep bool) {
	if !keep {
		c.keys[c.of(r)].used--
	}
}

// Release implements Gate: a counter does not care when work is over, or how.
func (*slidingCounter) Release(time.Duration, *wire.Request, Ended) {}
