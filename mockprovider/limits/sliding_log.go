package limits

import (
	"errors"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// SlidingLog is the exact limit: at most Limit in any half-open interval of
// length Length, wherever it begins. It remembers what was charged when, so its
// memory grows with what it lets in, up to Limit times for each key. With KeepAll
// it remembers the newest that fill the limit, which must not be given back.
type SlidingLog struct {
	Limit  int32 `rate:"Length,whole" required:"600/min" about:"How many requests, or units of the charge, any interval of that length allows."`
	Length time.Duration
	mockprovider.Terms
}

// Validate implements Limit.
func (l SlidingLog) Validate() error {
	if l.Keep == mockprovider.KeepAll && l.Charge.Settles() {
		return errors.New("sliding log: it cannot both count what it refuses and give back what it has charged; keep less, or charge for good at admission")
	}
	return validateCount("sliding log", l.Limit, l.Length, l.Terms)
}

// Bound implements Limit: the limit ÷ the length.
func (l SlidingLog) Bound(load mockprovider.Load) mockprovider.Bound {
	return l.Terms.BoundOf(l.Limit, l.Length, &load)
}

// Gate implements Limit.
func (l SlidingLog) Gate(space mockprovider.Space) mockprovider.Gate {
	return &slidingLog{meter: newMeter(&l.Terms, l.Limit, space), length: l.Length, keys: make([]charges, l.Counters(space))}
}

type slidingLog struct {
	meter
	length time.Duration
	keys   []charges
}

// Take implements Gate.
func (l *slidingLog) Take(now time.Duration, r *wire.Request) bool {
	k := &l.keys[l.Of(r)]
	if !l.ones {
		return l.take(now, r, k)
	}
	for k.n > 0 && now-k.oldest() >= l.length {
		k.drop()
	}
	fits := k.n < int(l.limit)
	if !fits {
		if l.keep != mockprovider.KeepAll {
			return false
		}
		if k.n == int(l.full) { // the newest of them fill the limit by themselves
			k.drop()
		}
	}
	k.push(now, int(l.full))
	return fits
}

func (l *slidingLog) take(now time.Duration, r *wire.Request, k *charges) bool {
	l.age(k, now)
	n := l.cost(r)
	fits := int64(room(n)) <= int64(l.limit)-k.sum
	if fits || l.keep == mockprovider.KeepAll {
		l.add(k, now, n)
	}
	return fits
}

// age forgets what is too old to count.
func (l *slidingLog) age(k *charges, now time.Duration) {
	for k.n > 0 && now-k.oldest() >= l.length {
		if l.ones {
			k.drop()
		} else {
			k.dropAmount()
		}
	}
}

// add charges n. Where those that have come since fill the limit by themselves,
// it does not matter any more what came before: that is forgotten.
func (l *slidingLog) add(k *charges, now time.Duration, n int32) {
	if n == 0 {
		return
	}
	for k.n > 0 && k.sum-k.amount(0)+int64(n) >= int64(l.full) {
		k.dropAmount()
	}
	k.add(now, int64(n))
}

// Refuse implements Gate. There is room as soon as enough of the oldest have
// left.
func (l *slidingLog) Refuse(now time.Duration, r *wire.Request) mockprovider.Verdict {
	k := &l.keys[l.Of(r)]
	ready, over := time.Duration(0), k.total()+int64(room(l.cost(r)))-int64(l.limit)
	for i := 0; i < k.n && over > 0; i++ {
		over -= k.amount(i)
		ready = l.length - (now - k.at[k.index(i)])
	}
	return l.verdict(r, l.limit, atMost32(uint64(max(0, int64(l.limit)-k.total()))), ready, l.reset(k, now))
}

// reset is how long until the newest has left.
func (l *slidingLog) reset(k *charges, now time.Duration) time.Duration {
	if k.n == 0 {
		return 0
	}
	return l.length - (now - k.at[k.index(k.n-1)])
}

// Undo implements Gate. What Take has just charged is the newest.
func (l *slidingLog) Undo(_ time.Duration, r *wire.Request) {
	k := &l.keys[l.Of(r)]
	switch {
	case l.keep != mockprovider.KeepNone:
	case l.ones:
		k.n--
	default:
		if n := l.cost(r); n > 0 {
			k.change(k.n-1, -int64(n))
		}
	}
}

// Release implements Gate.
func (l *slidingLog) Release(now time.Duration, r *wire.Request, e mockprovider.Ended) {
	if l.settles {
		l.settle(now, r, &e)
	}
}

// settle corrects what r was charged, at the time of the charge.
func (l *slidingLog) settle(now time.Duration, r *wire.Request, e *mockprovider.Ended) {
	k := &l.keys[l.Of(r)]
	l.age(k, now)
	n := l.change(r, e)
	if l.late() {
		l.add(k, now, n)
	} else if i, ok := k.find(e.Since); ok {
		k.change(i, int64(n))
	}
}

// Standing implements StandingReporter.
func (l *slidingLog) Standing(now time.Duration, r *wire.Request) mockprovider.Standing {
	k := &l.keys[l.Of(r)]
	l.age(k, now)
	return l.standing(atMost32(uint64(k.total())), l.reset(k, now))
}

// Scale implements Scaler.
func (l *slidingLog) Scale(_ time.Duration, percent int32) { l.scale(percent) }

// Forget implements Forgetter.
func (l *slidingLog) Forget(account uint32) {
	mockprovider.ForgetAccount(&l.CounterIndex, account, l.keys)
}
