package layers

import (
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// GCRA delays attempts by the generic cell rate algorithm: attempts are due one
// emission interval apart, and an attempt may go up to Burst − 1 intervals early.
// It admits the same attempts as a TokenBucket of that rate and burst with one word
// of memory in place of two; its interval is a whole number of nanoseconds, rounded
// up.
//
// Use it where the limit is known and memory is scarce: one word for each of a
// million clients, or one key in a shared store. (ITU-T I.371, annex A.)
type GCRA struct {
	// Rate is the number of attempts that are due in each Per; both must be
	// positive. 21 per 10 s is one every 476 ms.
	Rate int64 `rate:"Per" required:"120/min" about:"The rate at which attempts are due."`
	Per  time.Duration
	// Burst is the number of attempts that may go at once after a pause, at least
	// 1.
	Burst int64 `unit:"attempts" least:"1" required:"3" about:"How many attempts may go at once after a pause."`
	// Scope sets which clients share the limit, PerClient or wider. Name identifies
	// a limit with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (g GCRA) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if err := validateRate(g.Rate, g.Per, g.Burst); err != nil {
		return nil, fmt.Errorf("gcra: %w", err)
	}
	if err := g.Scope.CheckShared(g.Name); err != nil {
		return nil, fmt.Errorf("gcra: %w", err)
	}
	p := cells{interval: (int64(g.Per)-1)/g.Rate + 1, burst: g.Burst}
	if p.burst > int64(strategies.Never)/4/p.interval {
		return nil, fmt.Errorf("gcra: a burst of %d at %d per %v overflows; take a smaller burst", g.Burst, g.Rate, g.Per)
	}
	id, err := b.Pool(p, g.Scope, "gcra "+g.Name)
	if err != nil {
		return nil, err
	}
	return b.Spend("gcra", id, inner)
}

// cells is the pool of a GCRA layer; its word is the theoretical arrival time: when
// the next attempt would be due if all came evenly spaced.
type cells struct{ interval, burst int64 }

// Words implements Pool.
func (cells) Words() int { return 1 }

// TryTake implements Pool.
func (p cells) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	if int64(n) > p.burst {
		return false, strategies.Never
	}
	due := max(m[0], int64(now))
	if early := (p.burst - int64(n)) * p.interval; due > int64(now)+early {
		return false, time.Duration(due - early)
	}
	m[0] = int64(saturating.Add(time.Duration(due), time.Duration(int64(n)*p.interval)))
	return true, now
}

// Put implements Pool. Returned units make the next attempt due earlier, but not
// before now.
func (p cells) Put(now time.Duration, m []int64, n uint32) {
	m[0] = max(int64(now), m[0]-min(int64(n), p.burst)*p.interval)
}
