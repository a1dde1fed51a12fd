package presets

import (
	"fmt"
	"math"
	"time"

	"herdlab/strategies"
)

// rateReservations is golang.org/x/time/rate in its usual form: Wait with a context
// that may be cancelled. A call reserves the next free time slot. A call that is
// cancelled before its slot returns only the tokens that no later call has reserved,
// which is nothing unless it is the latest call. So calls that stop waiting leave a
// debt, and the next call waits as if they were all still waiting. TokenBucket avoids
// this: it charges a call when it is admitted.
//
// It counts tokens in floating point, as the library does: if the latest calls are
// cancelled first, a rounding error of a nanosecond decides how much debt remains.
type rateReservations struct {
	limit float64 // tokens per second
	burst float64
}

// The words of a limiter: its tokens, as the bits of the float64 XOR those of a full
// bucket, so that 0 is a full bucket; the time at which they were counted; and the
// latest slot that has been reserved.
const (
	tokenBits = iota
	countedAt
	latestSlot
	reservationWords
)

// Build implements strategies.Layer.
func (r rateReservations) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	limiter, err := b.Reserve(strategies.PerClient, reservationWords, "")
	if err != nil {
		return nil, err
	}
	slot, err := b.Reserve(strategies.PerCall, 1, "")
	if err != nil {
		return nil, err
	}
	x := &rateReservationsLayer{rateReservations: r, inner: inner, limiter: limiter, slot: slot}
	x.waiting, err = b.Waiting(fmt.Sprintf("%T", x))
	return x, err
}

type rateReservationsLayer struct {
	rateReservations
	inner   strategies.Strategy
	limiter strategies.Slot
	slot    strategies.Slot // the time at which the call may be sent
	waiting strategies.Waiting
}

// Next implements strategies.Strategy.
func (r *rateReservationsLayer) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	switch waits := r.waiting.In(c); {
	case e.Kind == strategies.Begin:
		if wait := r.reserve(now, c); wait > 0 {
			r.waiting.Set(c)
			return strategies.Decision{Kind: strategies.Wait, After: wait}
		}
	case e.Kind == strategies.Wake && waits:
		r.waiting.Clear(c)
		e = strategies.Event{Kind: strategies.Begin}
	case e.Kind == strategies.Cancelled && waits:
		r.waiting.Clear(c)
		r.cancel(now, c)
		return strategies.StopCancelled()
	}
	return r.inner.Next(now, c, e)
}

// reserve is reserveN of the library: it reserves the next slot for the call and
// returns the time until that slot.
func (r *rateReservationsLayer) reserve(now time.Duration, c *strategies.Call) (wait time.Duration) {
	tokens := r.advance(now, c) - 1
	if tokens < 0 {
		wait = r.timeFor(-tokens)
	}
	r.store(now, c, tokens)
	*c.Word(r.limiter, latestSlot), *c.Word(r.slot, 0) = int64(now+wait), int64(now+wait)
	return wait
}

// cancel is CancelAt of the library: it returns the token of the call minus the tokens
// that later calls have reserved.
func (r *rateReservationsLayer) cancel(now time.Duration, c *strategies.Call) {
	slot, latest := time.Duration(*c.Word(r.slot, 0)), (*time.Duration)(c.Word(r.limiter, latestSlot))
	back := 1 - float64((*latest-slot).Seconds()*r.limit)
	if slot < now || back <= 0 {
		return
	}
	r.store(now, c, min(r.advance(now, c)+back, r.burst))
	if before := slot - r.timeFor(1); slot == *latest && before >= now {
		*latest = before
	}
}

// advance returns the number of tokens at now.
func (r *rateReservationsLayer) advance(now time.Duration, c *strategies.Call) float64 {
	tokens := math.Float64frombits(uint64(*c.Word(r.limiter, tokenBits)) ^ math.Float64bits(r.burst))
	elapsed := now - time.Duration(*c.Word(r.limiter, countedAt))
	return min(tokens+float64(elapsed.Seconds()*r.limit), r.burst)
}

func (r *rateReservationsLayer) store(now time.Duration, c *strategies.Call, tokens float64) {
	*c.Word(r.limiter, tokenBits) = int64(math.Float64bits(tokens) ^ math.Float64bits(r.burst))
	*c.Word(r.limiter, countedAt) = int64(now)
}

// timeFor is durationFromTokens of the library: the time in which the limit grants
// that many tokens.
func (r *rateReservationsLayer) timeFor(tokens float64) time.Duration {
	return time.Duration(float64(tokens/r.limit) * float64(time.Second))
}
