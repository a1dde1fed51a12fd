package strategies

import (
	"errors"
	"fmt"
	"time"
)

// TokenBucket makes every attempt take a token first: Rate tokens arrive per
// Per, Burst are kept at most, and it starts full. Waiters are served first
// come, first served. It is right when the limit is known: a fleet that shares
// a bucket of 70 % of it never meets the limit at all.
type TokenBucket struct {
	// Rate tokens arrive evenly in each Per: 21 per 10 s is 2.1 per second.
	Rate int64
	Per  time.Duration
	// Burst is the size of the bucket, ≥ 1.
	Burst int64
	// Scope is who shares it, PerClient or wider; Name tells buckets apart
	// that everyone shares.
	Scope Scope
	Name  string
}

// Build implements Layer.
func (t TokenBucket) Build(b *Build, inner Strategy) (Strategy, error) {
	switch {
	case t.Rate < 1 || t.Per <= 0:
		return nil, errors.New("token bucket: the rate must be positive")
	case t.Burst < 1:
		return nil, errors.New("token bucket: the burst must be at least 1")
	case t.Burst > int64(Never/4/t.Per):
		return nil, fmt.Errorf("token bucket: a burst of %d at %d per %v overflows; write the rate with a shorter period", t.Burst, t.Rate, t.Per)
	case t.Scope == PerCall:
		return nil, errors.New("token bucket: scope call limits nothing; use client, fleet or everyone")
	}
	id, err := b.Pool(bucket{rate: t.Rate, per: int64(t.Per), burst: t.Burst}, t.Scope, "bucket "+t.Name)
	if err != nil {
		return nil, err
	}
	return b.Guard(acquiring{id}, inner)
}

// acquiring is the guard of a pool whose units are spent, not given back.
type acquiring struct{ pool PoolID }

// Admit implements Guard.
func (a acquiring) Admit(time.Duration, *Call) Decision {
	return Decision{Kind: Acquire, Take: Take{Pool: a.pool, N: 1}}
}

// Observe implements Guard.
func (acquiring) Observe(time.Duration, *Call, Event, Decision) {}

// bucket is the pool of a TokenBucket. Its words are the time of the last
// refill and what is missing from a full bucket, in units of 1/per of a token,
// so that a refill of any length is an integer and zeroed memory is a full
// bucket.
type bucket struct{ rate, per, burst int64 }

// Words implements Pool.
func (bucket) Words() int { return 2 }

// TryTake implements Pool.
func (k bucket) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	dt := int64(now) - m[0]
	m[0] = int64(now)
	if missing := m[1]; missing > 0 {
		if dt > missing/k.rate {
			m[1] = 0
		} else {
			m[1] = missing - dt*k.rate
		}
	}
	over := m[1] + int64(n)*k.per - k.burst*k.per
	if over <= 0 {
		m[1] += int64(n) * k.per
		return true, now
	}
	if int64(n) > k.burst {
		return false, Never
	}
	return false, now + time.Duration((over+k.rate-1)/k.rate)
}

// Put implements Pool.
func (k bucket) Put(_ time.Duration, m []int64, n uint32) {
	m[1] = max(0, m[1]-int64(n)*k.per)
}
