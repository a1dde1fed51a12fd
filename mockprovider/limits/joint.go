package limits

import (
	"errors"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
)

// Joint is the rule in two dimensions that the reference article on 14003 infers:
// a request is refused when the requests started in this window plus the requests
// in flight reach Limit. It is stricter than a window and a semaphore of that size
// side by side: a fresh burst is counted twice, so that only half of it passes,
// while sequential requests may start nearly Limit times in a window. It counts
// requests when they arrive: its Charge is the zero value.
type Joint struct {
	Limit  int32 `rate:"Length,whole" required:"20/s" about:"How many requests started in the window and in flight are allowed together."`
	Length time.Duration
	// Anchored windows begin with the first request that is counted after the
	// last one is over; others are aligned to the provider's clock.
	Anchored bool `about:"Whether a window begins with the first request after the last one; otherwise windows are aligned to the clock."`
	// The class of a refusal is the dimension that decided: Rate if the window is
	// full by itself, so that only its end helps; Concurrency if there would be
	// room but for what is in flight.
	mockprovider.Terms `except:"charge"`
}

// Validate implements Limit.
func (j Joint) Validate() error {
	if j.Charge != (mockprovider.Charge{}) {
		return errors.New("joint: it counts requests as they come; leave out the charge")
	}
	return validateCount("joint", j.Limit, j.Length, j.Terms)
}

// Bound implements Limit. No window sees more than Limit starts and no instant
// more than Limit in flight, so it is the lower of the two rates. How near a
// load comes depends on how it overlaps.
func (j Joint) Bound(load mockprovider.Load) mockprovider.Bound {
	n := saturating.Mul(int64(j.Limit), int64(j.Counters(load.Space)))
	return mockprovider.Bound{Count: n, Per: j.Length}.And(mockprovider.Parallel(n, load.MeanService))
}

// Unpredictable implements the interface of that name: the limit does not know
// when what is in flight ends.
func (Joint) Unpredictable() {}

// Gate implements Limit.
func (j Joint) Gate(space mockprovider.Space) mockprovider.Gate {
	return &joint{
		meter: newMeter(&j.Terms, j.Limit, space), alignment: alignment{length: j.Length, anchored: j.Anchored},
		keys: make([]jointKey, j.Counters(space)),
	}
}

// jointKey is the window of one key, and how many of its requests are in flight.
type jointKey struct {
	windowKey
	inFlight int32
}

type joint struct {
	meter
	alignment
	keys []jointKey
}

// Take implements Gate.
func (j *joint) Take(now time.Duration, r *wire.Request) bool {
	k := &j.keys[j.Of(r)]
	if now < k.end && int64(k.used)+int64(k.inFlight) < int64(j.limit) { // the usual case
		k.used++
		k.inFlight++
		return true
	}
	return j.take(now, k)
}

func (j *joint) take(now time.Duration, k *jointKey) bool {
	over := now >= k.end
	if over {
		k.used = 0
	}
	fits := int64(k.used)+int64(k.inFlight) < int64(j.limit)
	if !fits && j.keep != mockprovider.KeepAll {
		return false
	}
	if over {
		k.end = j.end(now)
	}
	k.used = plus(k.used, 1)
	if fits {
		k.inFlight++
	}
	return fits
}

// Refuse implements Gate. It is not known when what is in flight will end, so
// hints other than constant ones are left out.
func (j *joint) Refuse(now time.Duration, r *wire.Request) mockprovider.Verdict {
	class, k := wire.Concurrency, &j.keys[j.Of(r)]
	if k.used >= j.limit {
		class = wire.Rate
	}
	return mockprovider.Verdict{Class: class, Allowance: mockprovider.Allowance{Limit: j.limit}, Reset: max(0, k.end-now)}
}

// Undo implements Gate. What is kept is the start; nothing is in flight. Every
// request that is counted is counted for good, so a window that none is left in
// has not begun.
func (j *joint) Undo(_ time.Duration, r *wire.Request) {
	k := &j.keys[j.Of(r)]
	k.inFlight--
	if j.keep != mockprovider.KeepNone {
		return
	}
	if k.used--; k.used == 0 {
		k.end = 0
	}
}

// Release implements Gate.
func (j *joint) Release(_ time.Duration, r *wire.Request, _ mockprovider.Ended) {
	j.keys[j.Of(r)].inFlight--
}

// Standing implements StandingReporter. Used is the sum of both dimensions, and Reset the end
// of the window.
func (j *joint) Standing(now time.Duration, r *wire.Request) mockprovider.Standing {
	k := j.keys[j.Of(r)]
	if now >= k.end {
		k.windowKey = windowKey{end: now}
	}
	return j.standing(plus(k.used, k.inFlight), k.end-now)
}

// Scale implements Scaler. Those in flight stay.
func (j *joint) Scale(_ time.Duration, percent int32) { j.scale(percent) }

// Forget implements Forgetter.
func (j *joint) Forget(account uint32) { mockprovider.ForgetAccount(&j.CounterIndex, account, j.keys) }

// SetClock implements ClockSetter.
func (j *joint) SetClock(now, ahead time.Duration) {
	if j.anchored {
		return
	}
	was := j.ahead
	j.set(ahead)
	for i := range j.keys {
		j.keys[i].move(&j.alignment, now, was)
	}
}
