package limits

import (
	"math/bits"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
)

// SlidingCounter approximates a sliding log with two counters: this window's,
// and the last one's weighted by how much of it a window that ends now would
// still cover. A request is let in if the weighted sum with it is at most
// Limit. Windows are aligned to the provider's clock.
//
// The weight takes what the last window has seen for evenly spread. Where that
// came at its end, an interval of length Length may see up to 2·Limit − 1; an
// aligned window never sees more than Limit.
type SlidingCounter struct {
	Limit  int32 `rate:"Length,whole" required:"600/min" about:"How many requests, or units of the charge, an interval of that length allows, approximately."`
	Length time.Duration
	mockprovider.Terms
}

// Validate implements Limit.
func (c SlidingCounter) Validate() error {
	return validateCount("sliding counter", c.Limit, c.Length, c.Terms)
}

// Bound implements Limit. After a window with anything in it, the next never
// gets to the full limit, because its weight is not 0 until the window is over:
// so in the long run it is Limit − 1 in each, or 1 in two.
func (c SlidingCounter) Bound(load mockprovider.Load) mockprovider.Bound {
	if c.Limit == 1 {
		return c.Terms.BoundOf(1, saturating.Add(c.Length, c.Length), &load)
	}
	return c.Terms.BoundOf(c.Limit-1, c.Length, &load)
}

// Gate implements Limit.
func (c SlidingCounter) Gate(space mockprovider.Space) mockprovider.Gate {
	return &slidingCounter{
		meter: newMeter(&c.Terms, c.Limit, space), alignment: alignment{length: c.Length},
		keys: make([]twoBuckets, c.Counters(space)),
	}
}

// twoBuckets are what was used of the window that began at start, and of the
// one before it.
type twoBuckets struct {
	start      time.Duration
	last, used int32
}

// roll moves on to the window that now is in.
func (k *twoBuckets) roll(now time.Duration, a *alignment) {
	if since := now - k.start; since >= a.length {
		if k.last = k.used; since-a.length >= a.length {
			k.last = 0
		}
		k.used, k.start = 0, a.start(now)
	}
}

// change adds to what was used of the window that t is in, if it is one of the
// two.
func (k *twoBuckets) change(t, length time.Duration, n int32) {
	switch {
	case t >= k.start:
		k.used = plus(k.used, n)
	case k.start-t <= length:
		k.last = plus(k.last, n)
	}
}

type slidingCounter struct {
	meter
	alignment
	keys []twoBuckets
}

// Take implements Gate.
func (c *slidingCounter) Take(now time.Duration, r *wire.Request) bool {
	k := &c.keys[c.Of(r)]
	if left := c.length - (now - k.start); left > 0 && k.used < c.quick && c.fits(k, left, 1) { // the usual case
		k.used++
		return true
	}
	return c.take(now, r, k)
}

func (c *slidingCounter) take(now time.Duration, r *wire.Request, k *twoBuckets) bool {
	k.roll(now, &c.alignment)
	n := c.cost(r)
	fits := room(n) <= c.limit-k.used && c.fits(k, c.length-(now-k.start), room(n))
	if fits || c.keep == mockprovider.KeepAll {
		k.used = plus(k.used, n)
	}
	return fits
}

// fits reports whether n more fit beside the last window, with that time left of
// this one, which has room for n itself:
// last × left ÷ length + used + n ≤ limit.
func (c *slidingCounter) fits(k *twoBuckets, left time.Duration, n int32) bool {
	hi, lo := bits.Mul64(uint64(k.last), uint64(left))
	roomHi, roomLo := c.room(k, n)
	return hi < roomHi || hi == roomHi && lo <= roomLo
}

// room is how much the last window may weigh for n more to be let in, times the
// length: (limit − n − used) × length. It is only right where it is not below 0.
func (c *slidingCounter) room(k *twoBuckets, n int32) (hi, lo uint64) {
	return bits.Mul64(uint64(c.limit-n-k.used), uint64(c.length))
}

// Refuse implements Gate. If no other request is admitted, there is room when the last
// window weighs little enough; where this one is too full, that is in the next,
// whose last this one is.
func (c *slidingCounter) Refuse(now time.Duration, r *wire.Request) mockprovider.Verdict {
	k := &c.keys[c.Of(r)]
	ready := c.length - (now - k.start) // until this window is over
	n := room(c.cost(r))
	switch {
	case n > c.limit: // never
	case n <= c.limit-k.used:
		hi, lo := c.room(k, n)
		enough, _ := bits.Div64(hi, lo, uint64(k.last)) // less than ready: Take has just compared them
		ready -= time.Duration(enough)
	default:
		// used × left ≤ (limit − n) × length, with less than used left of the limit.
		hi, lo := bits.Mul64(uint64(c.limit-n), uint64(c.length))
		enough, _ := bits.Div64(hi, lo, uint64(k.used))
		ready = saturating.Add(ready, c.length-time.Duration(enough))
	}
	remaining := int32(0)
	if n > 1 { // otherwise there is less than 1
		remaining = c.stands(now, k).Remaining
	}
	return c.verdict(r, c.limit, remaining, ready, c.reset(now, k))
}

// stands is how one stands with these counters.
func (c *slidingCounter) stands(now time.Duration, k *twoBuckets) mockprovider.Standing {
	left := c.length - (now - k.start)
	hi, lo := bits.Mul64(uint64(k.last), uint64(left))
	weight, rest := bits.Div64(hi, lo, uint64(c.length)) // at most last
	if rest > 0 {
		weight++
	}
	return c.standing(plus(k.used, int32(weight)), c.reset(now, k))
}

// reset is how long until the limit is whole again: when this window and, if
// anything of it is used, the next are over.
func (c *slidingCounter) reset(now time.Duration, k *twoBuckets) time.Duration {
	left := c.length - (now - k.start)
	switch {
	case k.used > 0:
		return saturating.Add(left, c.length)
	case k.last > 0:
		return left
	}
	return 0
}

// Undo implements Gate.
func (c *slidingCounter) Undo(_ time.Duration, r *wire.Request) {
	if c.keep == mockprovider.KeepNone {
		c.keys[c.Of(r)].used -= c.cost(r)
	}
}

// Release implements Gate.
func (c *slidingCounter) Release(now time.Duration, r *wire.Request, e mockprovider.Ended) {
	if c.settles {
		c.settle(now, r, &e)
	}
}

// settle corrects what r was charged, in the window of the charge.
func (c *slidingCounter) settle(now time.Duration, r *wire.Request, e *mockprovider.Ended) {
	k := &c.keys[c.Of(r)]
	k.roll(now, &c.alignment)
	if c.late() {
		e.Since = now
	}
	k.change(e.Since, c.length, c.change(r, e))
}

// Standing implements StandingReporter.
func (c *slidingCounter) Standing(now time.Duration, r *wire.Request) mockprovider.Standing {
	k := &c.keys[c.Of(r)]
	k.roll(now, &c.alignment)
	return c.stands(now, k)
}

// Scale implements Scaler.
func (c *slidingCounter) Scale(_ time.Duration, percent int32) { c.scale(percent) }

// Forget implements Forgetter.
func (c *slidingCounter) Forget(account uint32) {
	mockprovider.ForgetAccount(&c.CounterIndex, account, c.keys)
}

// SetClock implements ClockSetter.
func (c *slidingCounter) SetClock(now, ahead time.Duration) {
	setClock(c.keys, &c.alignment, now, ahead)
}
