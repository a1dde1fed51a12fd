package limits

import (
	"time"

	"herdlab/sim/saturating"
)

// alignment is how windows of one length lie on the time of the run.
type alignment struct {
	length   time.Duration
	anchored bool // they begin with a charge; otherwise with the clock
	// offset is when one of the aligned windows begins, between -length and
	// length, and ahead by how much the provider's clock is ahead of the time of
	// the run.
	offset, ahead time.Duration
}

// end returns the end of the window that begins, or is found, at now.
func (a *alignment) end(now time.Duration) time.Duration {
	switch {
	case a.anchored:
		return saturating.Add(now, a.length)
	case now < a.offset:
		return a.offset
	}
	return saturating.Add(now-(now-a.offset)%a.length, a.length)
}

// start returns the beginning of the aligned window that is found at now, which
// may be before 0.
func (a *alignment) start(now time.Duration) time.Duration {
	if now < a.offset {
		return a.offset - a.length
	}
	return now - (now-a.offset)%a.length
}

// set sets the clock.
func (a *alignment) set(ahead time.Duration) {
	a.offset, a.ahead = (a.offset-(ahead-a.ahead)%a.length)%a.length, ahead
}

// moved returns the number of windows, by the clock, from the one that began at
// start when the clock was ahead by that much, to the one of now.
func (a *alignment) moved(start, ahead, now time.Duration) time.Duration {
	return (a.start(now) + a.ahead - start - ahead) / a.length
}

// move moves a window on to now, when the clock has just been set that was so
// much ahead.
func (k *windowKey) move(a *alignment, now, ahead time.Duration) {
	switch {
	case now >= k.end:
	case a.moved(k.end-a.length, ahead, now) == 0:
		k.end = a.end(now)
	default:
		*k = windowKey{}
	}
}

// setClock moves pairs of windows on to now by a clock that is ahead by that much.
// One that is set back finds the counter of the window before, but none of the
// one before that.
func setClock(keys []twoBuckets, a *alignment, now, ahead time.Duration) {
	for i := range keys {
		keys[i].roll(now, a)
	}
	was := a.ahead
	a.set(ahead)
	for i := range keys {
		k := &keys[i]
		switch a.moved(k.start, was, now) {
		case 0:
		case 1:
			k.last, k.used = k.used, 0
		case -1:
			k.last, k.used = 0, k.last
		default:
			k.last, k.used = 0, 0
		}
		k.start = a.start(now)
	}
}
