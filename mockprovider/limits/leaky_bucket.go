package limits

import (
	"time"

	"herdlab/mockprovider"
)

// LeakyBucket is the leaky bucket as a meter: each request pours 1 into a
// bucket of Size, out of which Limit drip evenly in each Length, and one that
// would make it overflow is refused. It starts empty. What is in this bucket is
// what is missing from a TokenBucket with that burst: the two decide alike.
//
// The leaky bucket as a queue is something else: it delays what comes too fast,
// so that it leaves evenly (limit_req of nginx, unless nodelay). A limit either
// refuses or does not; a provider that delays has slots and a queue.
type LeakyBucket struct {
	Limit  int32 `rate:"Length" required:"120/min" about:"The rate at which the bucket drains."`
	Length time.Duration
	// Size is how much the bucket holds, ≥ 1.
	Size int32 `unit:"requests" least:"1" required:"20" about:"How much the bucket holds."`
	mockprovider.Terms
}

// bucket is the token bucket that decides alike.
func (b *LeakyBucket) bucket() TokenBucket {
	return TokenBucket{Limit: b.Limit, Length: b.Length, Burst: b.Size, Terms: b.Terms}
}

// Validate implements Limit.
func (b LeakyBucket) Validate() error {
	t := b.bucket()
	return t.validate("leaky bucket", "size")
}

// Bound implements Limit: the rate at which the bucket leaks.
func (b LeakyBucket) Bound(load mockprovider.Load) mockprovider.Bound { return b.bucket().Bound(load) }

// Gate implements Limit.
func (b LeakyBucket) Gate(space mockprovider.Space) mockprovider.Gate { return b.bucket().Gate(space) }
