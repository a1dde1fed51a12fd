package layers

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// Concurrency lets at most Permits attempts through at a time; the others wait in
// line, first come, first served. A call holds its permit until the inner strategy
// ends, so inside a retry loop it releases the permit before the wait. Use it with
// providers that limit requests in flight.
type Concurrency struct {
	// Permits is the number of attempts that may be in flight, at least 1.
	Permits int64 `unit:"attempts" least:"1" required:"5" about:"How many attempts may be in flight."`
	// Scope sets which clients share the permits, PerClient or wider. Name
	// identifies a semaphore with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (s Concurrency) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if s.Permits < 1 {
		return nil, fmt.Errorf("concurrency: permits must be at least 1, not %d", s.Permits)
	}
	if err := s.Scope.CheckShared(s.Name); err != nil {
		return nil, fmt.Errorf("concurrency: %w", err)
	}
	id, err := b.Pool(permits{s.Permits}, s.Scope, "concurrency "+s.Name)
	if err != nil {
		return nil, err
	}
	return b.Hold("concurrency", id, inner)
}

// permits is the pool of a Concurrency layer; its word counts those in use.
type permits struct{ size int64 }

// Words implements Pool.
func (permits) Words() int { return 1 }

// TryTake implements Pool.
func (p permits) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	if m[0]+int64(n) > p.size {
		return false, strategies.Never
	}
	m[0] += int64(n)
	return true, now
}

// Put implements Pool.
func (permits) Put(_ time.Duration, m []int64, n uint32) { m[0] -= int64(n) }
