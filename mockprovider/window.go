package mockprovider

import (
	"time"

	"herdlab/mockprovider/wire"
)

// Window is a fixed-window limit: at most Limit requests in each window of
// length Length. Requests it refuses are not counted. Around a boundary, any
// interval shorter than Length may admit up to 2·Limit.
type Window struct {
	Limit  int32
	Length time.Duration
	// Anchored windows begin with the first request after the last one is
	// over; others are aligned to the provider's clock.
	Anchored bool
	Terms
}

// Validate implements Limit.
func (w Window) Validate() error {
	return validateCount("window", w.Limit, w.Length, w.Terms)
}

// Bound implements Limit: the limit ÷ the window's length.
func (w Window) Bound(load Load) Bound {
	return Bound{Count: int64(w.Limit) * int64(w.Per.keys(load.Space)), Per: w.Length}
}

// Gate implements Limit.
func (w Window) Gate(space Space) Gate {
	return &window{Window: w, keying: w.Per.keying(space), keys: make([]windowKey, w.Per.keys(space))}
}

// windowKey counts one key's requests in its current window, which is over at
// end. The zero value is a window that is over.
type windowKey struct {
	end  time.Duration
	used int32
}

// windowEnd returns the end of the window that a request at now begins or, if
// windows are aligned to the clock, falls into.
func windowEnd(now, length time.Duration, anchored bool) time.Duration {
	if !anchored {
		now -= now % length
	}
	return later(now, length)
}

type window struct {
	Window
	keying
	keys []windowKey
}

// Take implements Gate.
func (w *window) Take(now time.Duration, r *wire.Request) bool {
	k := &w.keys[w.of(r)]
	if now >= k.end {
		k.used, k.end = 0, windowEnd(now, w.Length, w.Anchored)
	}
	if k.used >= w.Limit {
		return false
	}
	k.used++
	return true
}

// Refuse implements Gate.
func (w *window) Refuse(now time.Duration, r *wire.Request, to *wire.Reply) {
	k := &w.keys[w.of(r)]
	w.Refusal.reply(to, wire.Rate, k.end-now, w.Limit, w.Limit-k.used)
}

// Undo implements Gate. A window that no request is left in has not begun.
func (w *window) Undo(_ time.Duration, r *wire.Request, keep bool) {
	if keep {
		return
	}
	k := &w.keys[w.of(r)]
	if k.used--; k.used == 0 {
		k.end = 0
	}
}

// Release implements Gate: a window does not care when work is over, or how.
func (*window) Release(time.Duration, *wire.Request, Ended) {}
