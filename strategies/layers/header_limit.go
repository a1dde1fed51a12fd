package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// HeaderLimit keeps a mirror of the provider's window, from what replies say
// about it (limit, remaining, reset): it counts what is left, and waits for the
// reset when nothing is. Attempts in flight are taken for not yet counted. A
// window is as long as the longest reset it has ever heard of.
//
// It is right where replies describe their limit, as most do; it needs no number
// and follows a limit that is changed. It is as good as what it is told: before
// the first reply it lets everything through, and of a second limit, of tokens
// or of another client under the same key, it learns when it is refused.
// Without Spread all of a window goes out at its beginning.
type HeaderLimit struct {
	// Percent of the limit is left for others, 0 to 99.
	Percent int64 `unit:"%" most:"99" default:"0%" about:"Which share of the limit is left for others."`
	// Spread sends what is left evenly until the reset.
	Spread bool `about:"Whether what remains is spread evenly until the limit is renewed."`
	// Scope is who shares the mirror, PerClient or wider; Name tells mirrors
	// apart that everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (h HeaderLimit) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if h.Percent < 0 || h.Percent > 99 {
		return nil, errors.New("header limit: the share left for others must be 0 to 99 percent")
	}
	p := mirror{h.Percent, h.Spread}
	s, err := withSampler(b, "header limit", p, h.Scope, h.Name, true, p, inner)
	if err != nil {
		return nil, fmt.Errorf("header limit: %w", err)
	}
	return s, nil
}

// mirror is the pool of a HeaderLimit, and its own limitUpdater.
type mirror struct {
	percent int64
	spread  bool
}

// The words of a mirror.
const (
	underWay  = iota // attempts in flight
	left             // how many more this window takes
	whole            // how many a fresh window takes; 0 until the first word of it
	resetAt          // when the window is over
	windowFor        // the longest reset heard of
	nextAt           // when the next attempt may go, if they are spread
	mirrorWords
)

// Words implements Pool.
func (mirror) Words() int { return mirrorWords }

// TryTake implements Pool.
func (p mirror) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
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

// Put implements Pool: an attempt has ended, which gives nothing back.
func (mirror) Put(_ time.Duration, m []int64, n uint32) { m[underWay] -= int64(n) }

// update implements limitUpdater.
func (p mirror) update(now time.Duration, _ *strategies.Call, m []int64, s sample) {
	o := s.outcome
	reset, remaining := o.Reset, int64(o.Remaining)
	if reset <= 0 && o.Class == wire.Rate {
		reset, remaining = o.RetryAfter, 0 // all that some refusals say
	}
	if o.Limit <= 0 || reset <= 0 || o.Class == wire.TokenRate || o.Class == wire.Concurrency {
		return // nothing is said, or not of requests in a window
	}
	reserve := int64(o.Limit) * p.percent / 100
	m[whole] = max(1, int64(o.Limit)-reserve)
	m[windowFor] = max(m[windowFor], int64(reset))
	m[resetAt] = int64(saturating.Add(now, reset))
	m[left] = max(0, remaining-reserve-(m[underWay]-1))
	m[nextAt] = min(m[nextAt], m[resetAt])
}
