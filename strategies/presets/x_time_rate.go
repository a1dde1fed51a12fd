package presets

import (
	"fmt"
	"math"
	"time"

	"herdlab/strategies"
)

// rateReservations is golang.org/x/time/rate as most use it: Wait with a context that
// is cancelled. Whoever comes is given the next slot of the future; whoever leaves
// before it gives back what nobody has built on, which is nothing for all but the
// last to have come. So a crowd that gives up waiting leaves its debt behind, and
// the next to come waits as if they were all still there. TokenBucket, which
// charges those whom it lets in, is the right way round.
//
// It counts tokens in floating point, as the library does: where the last to come
// leave first, a nanosecond of rounding decides how much of the debt remains.
type rateReservations struct {
	limit float64 // tokens per second
	burst float64
}

// The words of a limiter: its tokens, as the bits in which they differ from a full
// one; when they were counted; and the latest slot that it has given out.
const (
	tokenBits = iota
	countedAt
	latestSlot
	reservationWords
)

// Build implements Layer.
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
	slot    strategies.Slot // when the call may go
	waiting strategies.Waiting
}

// Next implements Strategy.
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

// reserve is reserveN: it gives the call its slot, and returns how long that is to
// come.
func (r *rateReservationsLayer) reserve(now time.Duration, c *strategies.Call) (wait time.Duration) {
	tokens := r.advance(now, c) - 1
	if tokens < 0 {
		wait = r.timeFor(-tokens)
	}
	r.keep(now, c, tokens)
	*c.Word(r.limiter, latestSlot), *c.Word(r.slot, 0) = int64(now+wait), int64(now+wait)
	return wait
}

// cancel is CancelAt: it gives the token back, less those of all who came later.
func (r *rateReservationsLayer) cancel(now time.Duration, c *strategies.Call) {
	slot, latest := time.Duration(*c.Word(r.slot, 0)), (*time.Duration)(c.Word(r.limiter, latestSlot))
	back := 1 - float64((*latest-slot).Seconds()*r.limit)
	if slot < now || back <= 0 {
		return
	}
	r.keep(now, c, min(r.advance(now, c)+back, r.burst))
	if before := slot - r.timeFor(1); slot == *latest && before >= now {
		*latest = before
	}
}

// advance is how many tokens there are now.
func (r *rateReservationsLayer) advance(now time.Duration, c *strategies.Call) float64 {
	tokens := math.Float64frombits(uint64(*c.Word(r.limiter, tokenBits)) ^ math.Float64bits(r.burst))
	elapsed := now - time.Duration(*c.Word(r.limiter, countedAt))
	return min(tokens+float64(elapsed.Seconds()*r.limit), r.burst)
}

func (r *rateReservationsLayer) keep(now time.Duration, c *strategies.Call, tokens float64) {
	*c.Word(r.limiter, tokenBits) = int64(math.Float64bits(tokens) ^ math.Float64bits(r.burst))
	*c.Word(r.limiter, countedAt) = int64(now)
}

// timeFor is durationFromTokens.
func (r *rateReservationsLayer) timeFor(tokens float64) time.Duration {
	return time.Duration(float64(tokens/r.limit) * float64(time.Second))
}
