package mockprovider

import (
	"errors"
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
	Per      Counted
	Refusal  Refusal
}

// Validate implements Limit.
func (w Window) Validate() error {
	switch {
	case w.Limit < 1:
		return errors.New("window: the limit must be at least 1")
	case w.Length <= 0:
		return errors.New("window: the length must be positive")
	}
	return nil
}

// Rate implements Limit.
func (w Window) Rate() float64 { return float64(w.Limit) / w.Length.Seconds() }

// Gate implements Limit.
func (w Window) Gate(accounts int) Gate {
	return &window{Window: w, keys: make([]windowKey, w.Per.keys(accounts))}
}

type windowKey struct {
	end  time.Duration
	used int32
}

type window struct {
	Window
	keys []windowKey
}

// Take implements Gate.
func (w *window) Take(now time.Duration, r *wire.Request) bool {
	k := &w.keys[w.Per.key(r)]
	if now >= k.end {
		k.used = 0
		if w.Anchored {
			k.end = now + w.Length
		} else {
			k.end = now - now%w.Length + w.Length
		}
	}
	if k.used >= w.Limit {
		return false
	}
	k.used++
	return true
}

// Refuse implements Gate.
func (w *window) Refuse(now time.Duration, r *wire.Request, to *wire.Reply) {
	k := &w.keys[w.Per.key(r)]
	w.Refusal.reply(to, wire.Rate, k.end-now, w.Limit, w.Limit-k.used)
}

// Undo implements Gate.
func (w *window) Undo(_ time.Duration, r *wire.Request) { w.keys[w.Per.key(r)].used-- }

// Release implements Gate: a window does not care when work is over.
func (*window) Release(time.Duration, *wire.Request) {}
