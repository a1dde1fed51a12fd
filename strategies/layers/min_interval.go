package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// MinInterval keeps attempts at least Every apart, plus a uniform jitter that is
// drawn for each gap. Waiters are served first come, first served, and one that
// gives up costs nothing: a gap begins when an attempt is sent.
//
// Use it for a single worker with a known limit; it is the simplest layer that
// works there. It admits no burst, even after a long pause; and a jitter of 20 ms
// does not separate processes that began at the same time. Outside a loop it acts
// once per call: the template of the reference experiment spaces its calls in this
// way, and its retries not at all.
type MinInterval struct {
	// Every is the least gap; it must be positive. A draw from U(0, Jitter) is
	// added to each gap.
	Every  time.Duration `required:"300ms" about:"The least gap between two attempts."`
	Jitter time.Duration `default:"0s" about:"The width of what is drawn evenly and added to the gap."`
	// Scope sets which clients share the limit, PerClient or wider. Name identifies
	// a limit with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (i MinInterval) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	switch {
	case i.Every <= 0:
		return nil, fmt.Errorf("min interval: every must be positive, not %v", i.Every)
	case i.Jitter < 0:
		return nil, errors.New("min interval: jitter must not be negative")
	}
	if err := i.Scope.CheckShared(i.Name); err != nil {
		return nil, fmt.Errorf("min interval: %w", err)
	}
	id, err := b.Pool(gap{i.Every}, i.Scope, "min interval "+i.Name)
	if err != nil {
		return nil, err
	}
	if i.Jitter > 0 {
		inner = widened{inner, b.PoolWords(id), i.Jitter, b.Purpose()}
	}
	return b.Spend("min interval", id, inner)
}

// gap is the pool of a MinInterval; its word is the time when the next attempt may
// go.
type gap struct{ every time.Duration }

// Words implements Pool.
func (gap) Words() int { return 1 }

// TryTake implements Pool.
func (g gap) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	if next := time.Duration(m[0]); now < next {
		return false, next
	}
	m[0] = int64(saturating.Add(now, times(g.every, n)))
	return true, now
}

// Put implements Pool.
func (g gap) Put(now time.Duration, m []int64, n uint32) {
	m[0] = max(int64(now), m[0]-int64(times(g.every, n)))
}

// times returns n·d for d > 0; a product that overflows is Never.
func times(d time.Duration, n uint32) time.Duration {
	if n > 0 && d > strategies.Never/time.Duration(n) {
		return strategies.Never
	}
	return time.Duration(n) * d
}

// widened is inside the pool of a MinInterval: an attempt that the pool has
// admitted draws the jitter of the gap after it.
type widened struct {
	inner   strategies.Strategy
	next    strategies.Slot
	jitter  time.Duration
	purpose strategies.Purpose
}

// Next implements Strategy.
func (w widened) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	if e.Kind == strategies.Begin {
		next := c.Word(w.next, 0)
		*next = int64(saturating.Add(time.Duration(*next), c.Uniform(w.purpose, 0, w.jitter)))
	}
	return w.inner.Next(now, c, e)
}
