package layers

import (
	"fmt"
	"math/bits"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// TokenBucket makes every attempt take a token first: Rate tokens arrive per Per,
// the bucket holds at most Burst, and it starts full. Waiters are served first
// come, first served. Use it where the limit is known: a fleet that shares a bucket
// of 70 % of the limit is never refused by it.
type TokenBucket struct {
	// Rate is the number of tokens that arrive, evenly, in each Per; both must be
	// positive. 21 per 10 s is 2.1 per second.
	Rate int64 `rate:"Per" required:"120/min" about:"The rate at which tokens arrive; each attempt takes one."`
	Per  time.Duration
	// Burst is the size of the bucket, at least 1 token.
	Burst int64 `unit:"tokens" least:"1" required:"20" about:"How many tokens the bucket holds; it starts full."`
	// Scope sets which clients share the bucket, PerClient or wider. Name
	// identifies a bucket with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (t TokenBucket) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if err := validateRate(t.Rate, t.Per, t.Burst); err != nil {
		return nil, fmt.Errorf("token bucket: %w", err)
	}
	if err := t.Scope.CheckShared(t.Name); err != nil {
		return nil, fmt.Errorf("token bucket: %w", err)
	}
	k := bucketOf(t.Rate, t.Per, t.Burst)
	if k.burst > int64(strategies.Never)/4/k.per {
		return nil, fmt.Errorf("token bucket: a burst of %d at %d per %v overflows; take a smaller burst or a rounder rate", t.Burst, t.Rate, t.Per)
	}
	id, err := b.Pool(k, t.Scope, "bucket "+t.Name)
	if err != nil {
		return nil, err
	}
	return b.Spend("tokens", id, inner)
}

// validateRate reports an error if a rate or its burst is not positive.
func validateRate(rate int64, per time.Duration, burst int64) error {
	switch {
	case rate < 1 || per <= 0:
		return fmt.Errorf("rate must be positive, not %d per %v", rate, per)
	case burst < 1:
		return fmt.Errorf("burst must be at least 1, not %d", burst)
	}
	return nil
}

// bucket is the pool of a TokenBucket. Its words are the time of the last refill
// and what is missing from a full bucket, in units of 1/per of a token, so that
// every refill is an integer and zeroed memory is a full bucket.
type bucket struct{ rate, per, burst int64 }

// bucketOf returns the bucket of a rate per time, reduced to lowest terms.
func bucketOf(rate int64, per time.Duration, burst int64) *bucket {
	a, b := rate, int64(per)
	for b != 0 {
		a, b = b, a%b
	}
	return &bucket{rate / a, int64(per) / a, burst}
}

// Words implements Pool.
func (*bucket) Words() int { return 2 }

// TryTake implements Pool.
func (k *bucket) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	dt := int64(now) - m[0]
	m[0] = int64(now)
	if missing := m[1]; missing > 0 {
		// A product of 128 bits is faster than a division; this runs once per
		// attempt.
		if hi, came := bits.Mul64(uint64(dt), uint64(k.rate)); hi > 0 || came >= uint64(missing) {
			m[1] = 0
		} else {
			m[1] = missing - int64(came)
		}
	}
	if int64(n) > k.burst {
		return false, strategies.Never
	}
	over := m[1] + (int64(n)-k.burst)*k.per
	if over <= 0 {
		m[1] += int64(n) * k.per
		return true, now
	}
	wait := over / k.rate
	if over%k.rate > 0 {
		wait++
	}
	return false, saturating.Add(now, time.Duration(wait))
}

// Put implements Pool.
func (k *bucket) Put(_ time.Duration, m []int64, n uint32) {
	m[1] = max(0, m[1]-min(int64(n), k.burst)*k.per)
}
