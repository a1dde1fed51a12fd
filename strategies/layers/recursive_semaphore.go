package layers

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// RecursiveSemaphore is a known mistake, to be studied and not used: a retry that
// calls its own function recursively inside a semaphore that is not re-entrant.
// Every attempt of a call takes another permit while the call keeps those of its
// earlier attempts.
//
//	def call():
//	    with semaphore:             # Permits
//	        if post() failed:
//	            sleep(backoff)
//	            return call()       # needs one more
//
// A single caller hangs after as many consecutive failures as there are permits. If
// as many callers as permits are active, they hang at the first failure that they
// have at the same time. (A semaphore that is only held during the wait is
// Concurrency outside Retry; the correct order is Concurrency inside Retry.)
type RecursiveSemaphore struct {
	// Retry is the loop inside the semaphore.
	Retry Retry `about:"The retry loop inside the semaphore; its backoff is required."`
	// Permits is the number of permits, at least 1.
	Permits int64 `unit:"permits" least:"1" required:"2" about:"How many calls may hold a permit, their waits included."`
	// Scope sets which clients share the permits, PerClient or wider. Name
	// identifies a semaphore with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (s RecursiveSemaphore) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if s.Permits < 1 {
		return nil, fmt.Errorf("recursive semaphore: permits must be at least 1, not %d", s.Permits)
	}
	if err := s.Scope.CheckShared(s.Name); err != nil {
		return nil, fmt.Errorf("recursive semaphore: %w", err)
	}
	id, err := b.Pool(permits{s.Permits}, s.Scope, "concurrency "+s.Name)
	if err != nil {
		return nil, err
	}
	held, err := b.Reserve(strategies.PerCall, 1, "")
	if err != nil {
		return nil, err
	}
	if inner, err = b.Spend("recursive semaphore", id, counting{inner, held}); err != nil {
		return nil, err
	}
	loop, err := s.Retry.Build(b, inner)
	if err != nil {
		return nil, fmt.Errorf("recursive semaphore: %w", err)
	}
	return returning{loop, id, held}, nil
}

// counting is inside the pool and counts the permits that the call has taken.
type counting struct {
	inner strategies.Strategy
	held  strategies.Slot
}

// Next implements Strategy.
func (s counting) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	if e.Kind == strategies.Begin {
		*c.Word(s.held, 0)++
	}
	return s.inner.Next(now, c, e)
}

// returning is outside the loop and releases all permits when the outermost call of
// the function returns.
type returning struct {
	inner strategies.Strategy
	pool  strategies.PoolID
	held  strategies.Slot
}

// Next implements Strategy.
func (s returning) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	d := s.inner.Next(now, c, e)
	if held := c.Word(s.held, 0); d.Settles() && *held > 0 {
		c.Put(s.pool, uint32(*held))
		*held = 0
	}
	return d
}
