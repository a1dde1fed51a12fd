package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// HeaderLimit keeps a copy of the provider's window from the rate-limit headers of
// replies (limit, remaining, reset): it counts what remains, and waits for the
// reset when nothing does. Attempts in flight are assumed not to be counted in a
// reply yet. The length of a window is the longest reset that a reply has
// contained.
//
// Use it where replies describe the limit, as most do; it needs no configured limit
// and follows one that changes. It depends on the replies: before the first one it
// lets every attempt through, and it notices a second limit, of tokens or of
// another client with the same key, only by refusals. Without Spread, all attempts
// of a window go at its beginning.
type HeaderLimit struct {
	// Percent is the share of the limit that is left for others, 0 to 99 %.
	Percent int64 `unit:"%" most:"99" default:"0%" about:"Which share of the limit is left for others."`
	// Spread sends the remaining attempts evenly until the reset.
	Spread bool `about:"Whether what remains is spread evenly until the limit is renewed."`
	// Scope sets which clients share the copy, PerClient or wider. Name identifies
	// a copy with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (h HeaderLimit) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if h.Percent < 0 || h.Percent > 99 {
		return nil, errors.New("header limit: percent must be 0 to 99")
	}
	p := headerWindow{h.Percent, h.Spread}
	s, err := withSampler(b, "header limit", p, h.Scope, h.Name, true, p, inner)
	if err != nil {
		return nil, fmt.Errorf("header limit: %w", err)
	}
	return s, nil
}

// headerWindow is the pool of a HeaderLimit, and also its limitUpdater.
type headerWindow struct {
	percent int64
	spread  bool
}

// The words of the pool of a HeaderLimit.
const (
	underWay  = iota // attempts in flight
	left             // attempts that remain in the current window
	whole            // attempts of a new window; 0 until a reply describes it
	resetAt          // the end of the window
	windowFor        // the longest reset in a reply
	nextAt           // the time of the next attempt, with Spread
	headerWords
)

// Words implements Pool.
func (headerWindow) Words() int { return headerWords }

// TryTake implements Pool.
func (p headerWindow) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	if m[whole] == 0 || n == 0 {
		m[underWay] += int64(n)
		return true, now
	}
	if over := int64(now) - m[resetAt]; over >= 0 {
		m[left] = m[whole]
		m[resetAt] = int64(saturating.Add(now-time.Duration(over%m[windowFor]), time.Duration(m[windowFor])))
	}
	switch {
	case int64(n) > m[whole]:
		return false, strategies.Never
	case m[left] < int64(n):
		return false, time.Duration(m[resetAt])
	case p.spread && int64(now) < m[nextAt]:
		return false, time.Duration(m[nextAt])
	}
	if p.spread {
		m[nextAt] = int64(now) + (m[resetAt]-int64(now))/m[left]*int64(n)
	}
	m[left] -= int64(n)
	m[underWay] += int64(n)
	return true, now
}

// Put implements Pool. The end of an attempt returns nothing to the window.
func (headerWindow) Put(_ time.Duration, m []int64, n uint32) { m[underWay] -= int64(n) }

// update implements limitUpdater.
func (p headerWindow) update(now time.Duration, _ *strategies.Call, m []int64, s sample) {
	o := s.outcome
	reset, remaining := o.Reset, int64(o.Remaining)
	if reset <= 0 && o.Class == wire.Rate {
		reset, remaining = o.RetryAfter, 0 // some refusals contain only this
	}
	if o.Limit <= 0 || reset <= 0 || o.Class == wire.TokenRate || o.Class == wire.Concurrency {
		return // the reply does not describe a window of requests
	}
	reserve := int64(o.Limit) * p.percent / 100
	m[whole] = max(1, int64(o.Limit)-reserve)
	m[windowFor] = max(m[windowFor], int64(reset))
	m[resetAt] = int64(saturating.Add(now, reset))
	m[left] = max(0, remaining-reserve-(m[underWay]-1))
	m[nextAt] = min(m[nextAt], m[resetAt])
}
