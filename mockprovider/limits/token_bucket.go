package limits

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// TokenBucket lets a request in if it finds a token: Limit of them arrive
// evenly in each Length, Burst are kept at most, and the bucket starts full.
// So any interval of length t sees at most Burst + t·Limit/Length requests. With
// a Charge in tokens of text, a request takes as many tokens of the bucket.
//
// LeakyBucket and GCRA are the same rule with other parameters.
type TokenBucket struct {
	Limit  int32 `rate:"Length" required:"120/min" about:"The rate at which tokens arrive."`
	Length time.Duration
	// Burst is the size of the bucket, ≥ 1.
	Burst int32 `unit:"tokens" least:"1" required:"20" about:"How many tokens the bucket holds; it starts full."`
	mockprovider.Terms
}

// Validate implements Limit.
func (b TokenBucket) Validate() error {
	return b.validate("token bucket", "burst")
}

// validate is Validate for a bucket of that name, whose size has that name.
func (b *TokenBucket) validate(name, size string) error {
	if err := validateCount(name, b.Limit, b.Length, b.Terms); err != nil {
		return err
	}
	if b.Burst < 1 {
		return fmt.Errorf("%s: the %s must be at least 1", name, size)
	}
	if _, token := units(b.Limit, b.Length); int64(b.Burst) > int64(mockprovider.Longest)/token {
		return fmt.Errorf("%s: a %s of %d at %d per %v is too large to count; take a smaller %[2]s or a rounder rate", name, size, b.Burst, b.Limit, b.Length)
	}
	return nil
}

// Bound implements Limit: the rate at which tokens arrive.
func (b TokenBucket) Bound(load mockprovider.Load) mockprovider.Bound {
	return b.Terms.BoundOf(b.Limit, b.Length, &load)
}

// units returns how many units arrive in a nanosecond and how many a token has:
// the least with which both are integers.
func units(limit int32, length time.Duration) (rate, token int64) {
	x, y := int64(limit), int64(length)
	for y != 0 {
		x, y = y, x%y
	}
	return int64(limit) / x, int64(length) / x
}

// Gate implements Limit.
func (b TokenBucket) Gate(space mockprovider.Space) mockprovider.Gate {
	g := &tokenBucket{meter: newMeter(&b.Terms, b.Burst, space), stated: b.Limit, keys: make([]bucket, b.Counters(space))}
	g.rate, g.token = units(b.Limit, b.Length)
	g.fill(int64(b.Burst) * g.token)
	return g
}

// bucket is what was missing from a full bucket, in units, at a time. The zero
// value is a full bucket.
type bucket struct {
	at      time.Duration
	missing int64
}

// tokenBucket is a bucket for each key. Its limit is the size in tokens. Where
// the limit is cut, the buckets are smaller by as much, and time goes slower for
// them by as much.
type tokenBucket struct {
	meter
	rate, token int64
	whole, size int64         // of a bucket in units, as configured and now
	usual       int64         // what may be missing where each request is charged 1; otherwise -1
	exact       bool          // a unit arrives each nanosecond
	stated      int32         // the limit that replies state, as configured
	percent     int32         // of the speed of time
	since, then time.Duration // when that was set, and what time it was for the buckets
	keys        []bucket
}

// fill sets the size of the buckets, in units.
func (b *tokenBucket) fill(size int64) {
	b.whole, b.percent = size, 100
	b.resize(size)
}

// resize sets the size in force.
func (b *tokenBucket) resize(size int64) {
	if b.size, b.usual = size, -1; b.plain {
		b.usual = size - b.token
	}
	b.exact = b.rate == 1 && b.percent == 100
}

// clock returns what time it is for the buckets.
func (b *tokenBucket) clock(now time.Duration) time.Duration {
	if b.percent < 100 {
		return b.slow(now)
	}
	return now - b.since + b.then
}

func (b *tokenBucket) slow(now time.Duration) time.Duration {
	return b.then + time.Duration(cut(int64(now-b.since), b.percent, 0))
}

// pour lets come into a bucket what has come by now, on its clock.
func (k *bucket) pour(now time.Duration, rate int64) {
	if k.missing > 0 {
		if hi, came := bits.Mul64(uint64(now-k.at), uint64(rate)); hi > 0 || came >= uint64(k.missing) {
			k.missing = 0
		} else {
			k.missing -= int64(came)
		}
	}
	k.at = now
}

// Take implements Gate.
func (b *tokenBucket) Take(now time.Duration, r *wire.Request) bool {
	k := &b.keys[b.Of(r)]
	if b.percent < 100 {
		k.pour(b.slow(now), b.rate)
		return b.take(r, k)
	}
	k.pour(now-b.since+b.then, b.rate)
	if k.missing <= b.usual { // the usual case
		k.missing += b.token
		return true
	}
	return b.take(r, k)
}

func (b *tokenBucket) take(r *wire.Request, k *bucket) bool {
	n := b.cost(r)
	if room(n) <= b.full && k.missing <= b.size-int64(room(n))*b.token {
		k.missing += int64(n) * b.token
		return true
	}
	if b.keep == mockprovider.KeepAll { // a refused request takes what there is
		took := b.size
		if n <= b.full {
			took = min(took, k.missing+int64(n)*b.token)
		}
		k.missing = max(k.missing, took)
	}
	return false
}

// Refuse implements Gate. There is room when enough has arrived.
func (b *tokenBucket) Refuse(now time.Duration, r *wire.Request) mockprovider.Verdict {
	k := &b.keys[b.Of(r)]
	n := room(b.cost(r))
	over := k.missing - (b.size - int64(min(b.full, n))*b.token)
	remaining := int32(0)
	if n > 1 { // otherwise there is less than 1
		remaining = b.left(k)
	}
	return b.verdict(r, b.statedLimit(), remaining, b.until(now, max(0, over)), max(0, b.until(now, k.missing)))
}

// until returns the time from now until n units, n ≥ 0, have arrived;
// NoHint if they never do.
func (b *tokenBucket) until(now time.Duration, n int64) time.Duration {
	if b.exact {
		return time.Duration(n)
	}
	return b.wait(now, n)
}

func (b *tokenBucket) wait(now time.Duration, n int64) time.Duration {
	d := time.Duration(n / b.rate)
	if n%b.rate > 0 {
		d++
	}
	if b.percent == 100 {
		return d
	}
	// The first time at which that much has passed by the clock of the buckets.
	hi, lo := bits.Mul64(uint64(b.clock(now)-b.then+d), 100)
	if b.percent == 0 || hi >= uint64(b.percent) {
		return unknown
	}
	t, rest := bits.Div64(hi, lo, uint64(b.percent))
	if rest > 0 {
		t++
	}
	return time.Duration(min(t, math.MaxInt64)) - (now - b.since)
}

// statedLimit is the limit that replies state.
func (b *tokenBucket) statedLimit() int32 {
	if b.percent == 100 {
		return b.stated
	}
	return int32(cut(int64(b.stated), b.percent, 1))
}

// left is how many whole tokens there are.
func (b *tokenBucket) left(k *bucket) int32 { return int32(max(0, b.size-k.missing) / b.token) }

// Undo implements Gate.
func (b *tokenBucket) Undo(_ time.Duration, r *wire.Request) {
	if b.keep == mockprovider.KeepNone {
		b.keys[b.Of(r)].missing -= int64(b.cost(r)) * b.token
	}
}

// Release implements Gate.
func (b *tokenBucket) Release(now time.Duration, r *wire.Request, e mockprovider.Ended) {
	if b.settles {
		b.settle(now, r, &e)
	}
}

// settle corrects what r was charged. A bucket has no windows: what is given
// back goes into it if it has room. It may come to owe what was produced beyond
// what there was.
func (b *tokenBucket) settle(now time.Duration, r *wire.Request, e *mockprovider.Ended) {
	k := &b.keys[b.Of(r)]
	k.pour(b.clock(now), b.rate)
	n := int64(b.change(r, e))
	switch most := int64(mockprovider.Longest) / b.token; {
	case n >= most || k.missing+n*b.token >= int64(mockprovider.Longest):
		k.missing = int64(mockprovider.Longest)
	default:
		k.missing = max(0, k.missing+n*b.token)
	}
}

// Standing implements StandingReporter. The limit is whole again when the bucket is full.
func (b *tokenBucket) Standing(now time.Duration, r *wire.Request) mockprovider.Standing {
	k := &b.keys[b.Of(r)]
	k.pour(b.clock(now), b.rate)
	return mockprovider.Standing{
		Allowance: mockprovider.Allowance{Limit: b.statedLimit(), Remaining: b.left(k)}, Used: atMost32(uint64((k.missing + b.token - 1) / b.token)),
		Reset: max(0, b.until(now, k.missing)),
	}
}

// Scale implements Scaler.
func (b *tokenBucket) Scale(now time.Duration, percent int32) {
	b.then, b.since = b.clock(now), now
	b.percent = min(max(percent, 0), 100)
	b.scale(percent)
	b.resize(cut(b.whole, percent, b.token))
}

// Forget implements Forgetter.
func (b *tokenBucket) Forget(account uint32) {
	mockprovider.ForgetAccount(&b.CounterIndex, account, b.keys)
}
