package mockprovider

import (
	"errors"
	"fmt"
	"math/bits"
	"time"

	"herdlab/mockprovider/wire"
)

// TokenBucket lets a request in if it finds a token: Limit of them arrive
// evenly in each Length, Burst are kept at most, and the bucket starts full.
// So any interval of length t sees at most Burst + t·Limit/Length requests. It
// is the same rule as GCRA, the leaky bucket as a meter, with a tolerance of
// Burst − 1 requests. Requests it refuses take nothing.
type TokenBucket struct {
	Limit  int32
	Length time.Duration
	// Burst is the size of the bucket, ≥ 1.
	Burst int32
	Terms
}

// Validate implements Limit.
func (b TokenBucket) Validate() error {
	if err := validateCount("token bucket", b.Limit, b.Length, b.Terms); err != nil {
		return err
	}
	if b.Burst < 1 {
		return errors.New("token bucket: the burst must be at least 1")
	}
	if _, token := b.units(); int64(b.Burst) > int64(longest)/token {
		return fmt.Errorf("token bucket: a burst of %d at %d per %v is too large to count; take a smaller burst or a rounder rate", b.Burst, b.Limit, b.Length)
	}
	return nil
}

// Bound implements Limit: the rate at which tokens arrive.
func (b TokenBucket) Bound(load Load) Bound {
	return Bound{Count: int64(b.Limit) * int64(b.Per.keys(load.Space)), Per: b.Length}
}

// units returns how many units arrive in a nanosecond and how many a token has:
// the least with which both are integers.
func (b TokenBucket) units() (rate, token int64) {
	x, y := int64(b.Limit), int64(b.Length)
	for y != 0 {
		x, y = y, x%y
	}
	return int64(b.Limit) / x, int64(b.Length) / x
}

// Gate implements Limit.
func (b TokenBucket) Gate(space Space) Gate {
	g := &tokenBucket{TokenBucket: b, keying: b.Per.keying(space), keys: make([]bucket, b.Per.keys(space))}
	g.rate, g.token = b.units()
	g.most = (int64(b.Burst) - 1) * g.token
	return g
}

// bucket is what was missing from a full bucket, in units, at a time. The zero
// value is a full bucket.
type bucket struct {
	at      time.Duration
	missing int64
}

type tokenBucket struct {
	TokenBucket
	keying
	rate, token int64
	most        int64 // what may be missing where there is a token
	keys        []bucket
}

// Take implements Gate.
func (b *tokenBucket) Take(now time.Duration, r *wire.Request) bool {
	k := &b.keys[b.of(r)]
	if k.missing > 0 {
		if hi, came := bits.Mul64(uint64(now-k.at), uint64(b.rate)); hi > 0 || came >= uint64(k.missing) {
			k.missing = 0
		} else {
			k.missing -= int64(came)
		}
	}
	k.at = now
	if k.missing > b.most {
		return false
	}
	k.missing += b.token
	return true
}

// Refuse implements Gate. There is a token when enough of it has arrived.
func (b *tokenBucket) Refuse(now time.Duration, r *wire.Request, to *wire.Reply) {
	over := b.keys[b.of(r)].missing - b.most
	ready := over / b.rate
	if over%b.rate > 0 {
		ready++
	}
	b.Refusal.reply(to, wire.Rate, time.Duration(ready), b.Limit, 0)
}

// Undo implements Gate.
func (b *tokenBucket) Undo(_ time.Duration, r *wire.Request, keep bool) {
	if !keep {
		b.keys[b.of(r)].missing -= b.token
	}
}

// Release implements Gate: a bucket does not care when work is over, or how.
func (*tokenBucket) Release(time.Duration, *wire.Request, Ended) {}
