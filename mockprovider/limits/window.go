package limits

import (
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// Window is a fixed-window limit: at most Limit in each window of length
// Length. Around a boundary, any interval shorter than Length may admit up to
// 2·Limit.
type Window struct {
	Limit  int32 `rate:"Length,whole" required:"600/min" about:"How many requests, or units of the charge, each window allows."`
	Length time.Duration
	// Anchored windows begin with the first charge after the last one is over;
	// others are aligned to the provider's clock.
	Anchored bool `about:"Whether a window begins with the first request after the last one; otherwise windows are aligned to the clock."`
	mockprovider.Terms
}

// Validate implements Limit.
func (w Window) Validate() error {
	return validateCount("window", w.Limit, w.Length, w.Terms)
}

// Bound implements Limit: the limit ÷ the window's length.
func (w Window) Bound(load mockprovider.Load) mockprovider.Bound {
	return w.Terms.BoundOf(w.Limit, w.Length, &load)
}

// Gate implements Limit.
func (w Window) Gate(space mockprovider.Space) mockprovider.Gate {
	return &window{
		meter: newMeter(&w.Terms, w.Limit, space), alignment: alignment{length: w.Length, anchored: w.Anchored},
		keys: make([]windowKey, w.Counters(space)),
	}
}

// windowKey is what one caller has used of the current window, which is over
// at end. The zero value is a window that is over.
type windowKey struct {
	end  time.Duration
	used int32
}

// in reports whether the window, of that length, is the one that saw t.
func (k *windowKey) in(t, length time.Duration) bool { return t < k.end && k.end-t <= length }

type window struct {
	meter
	alignment
	opened bool // Take has just opened the window, where not each is charged 1 for good
	keys   []windowKey
}

// Take implements Gate.
func (w *window) Take(now time.Duration, r *wire.Request) bool {
	k := &w.keys[w.Of(r)]
	if now < k.end && k.used < w.quick { // the usual case
		k.used++
		return true
	}
	return w.take(now, r, k)
}

func (w *window) take(now time.Duration, r *wire.Request, k *windowKey) bool {
	n := w.cost(r)
	over := now >= k.end
	if over {
		k.used = 0
	}
	fits := room(n) <= w.limit-k.used
	if !fits && w.keep != mockprovider.KeepAll {
		return false
	}
	if w.opened = over && n > 0; w.opened {
		k.end = w.end(now)
	}
	k.used = plus(k.used, n)
	return fits
}

// Refuse implements Gate.
func (w *window) Refuse(now time.Duration, r *wire.Request) mockprovider.Verdict {
	k := &w.keys[w.Of(r)]
	left := max(0, k.end-now) // what can never pass may find a window that is over
	return w.verdict(r, w.limit, max(0, w.limit-k.used), left, left)
}

// Undo implements Gate. A window that Take has opened has not begun.
func (w *window) Undo(_ time.Duration, r *wire.Request) {
	if w.keep != mockprovider.KeepNone {
		return
	}
	if k := &w.keys[w.Of(r)]; w.ones && k.used > 1 { // the usual case
		k.used--
		return
	}
	w.takeBack(r)
}

// takeBack makes it as if Take had not let r in. Where each is charged 1 for
// good, a window with nothing left in it has been opened by r.
func (w *window) takeBack(r *wire.Request) {
	k := &w.keys[w.Of(r)]
	k.used -= w.cost(r)
	if w.ones && k.used == 0 || !w.ones && w.opened {
		k.end = 0
	}
}

// Release implements Gate.
func (w *window) Release(now time.Duration, r *wire.Request, e mockprovider.Ended) {
	if w.settles {
		w.settle(now, r, &e)
	}
}

// settle corrects what r was charged, in the window of the charge.
func (w *window) settle(now time.Duration, r *wire.Request, e *mockprovider.Ended) {
	k := &w.keys[w.Of(r)]
	n := w.change(r, e)
	switch {
	case w.late():
		if now >= k.end && n > 0 {
			k.used, k.end = 0, w.end(now)
		}
		k.used = plus(k.used, n)
	case k.in(e.Since, w.length):
		k.used = plus(k.used, n)
	}
}

// Standing implements StandingReporter.
func (w *window) Standing(now time.Duration, r *wire.Request) mockprovider.Standing {
	k := w.keys[w.Of(r)]
	if now >= k.end {
		k = windowKey{end: now}
	}
	return w.standing(k.used, k.end-now)
}

// Scale implements Scaler.
func (w *window) Scale(_ time.Duration, percent int32) { w.scale(percent) }

// Forget implements Forgetter.
func (w *window) Forget(account uint32) { mockprovider.ForgetAccount(&w.CounterIndex, account, w.keys) }

// SetClock implements ClockSetter.
func (w *window) SetClock(now, ahead time.Duration) {
	if w.anchored || w.length == mockprovider.Forever {
		return
	}
	was := w.ahead
	w.set(ahead)
	for i := range w.keys {
		w.keys[i].move(&w.alignment, now, was)
	}
}
