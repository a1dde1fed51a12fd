package limits

import (
	"fmt"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
)

// Penalty punishes bursts: a caller of more than Limit within Length is refused
// everything for a time of Block. Its windows begin with the first charge after
// the last one, or the block, is over. What it refuses it punishes and does not
// count, whatever is to be kept.
//
// With Restarts, a request that comes during the block restarts it: "the window
// gets longer and longer". A caller that retries more often than once in a
// Block is never admitted again.
type Penalty struct {
	Limit  int32 `rate:"Length,whole" required:"120/min" about:"How many requests a window allows before the caller is blocked."`
	Length time.Duration
	// Block is how long the refusals last, from the first of them on or, with
	// Restarts, from the last; at least Length, or it would be a reward.
	Block    time.Duration `required:"30s" about:"How long all requests are refused then, at least the length of the window."`
	Restarts bool          `about:"Whether a request during the block starts it again."`
	mockprovider.Terms
}

// Validate implements Limit.
func (p Penalty) Validate() error {
	if p.Block < p.Length || p.Block > mockprovider.Longest {
		return fmt.Errorf("penalty: the block must last %v, which is the length, to %v, not %v", p.Length, mockprovider.Longest, p.Block)
	}
	return validateCount("penalty", p.Limit, p.Length, p.Terms)
}

// Bound implements Limit: the limit ÷ the length, without a block.
func (p Penalty) Bound(load mockprovider.Load) mockprovider.Bound {
	return p.Terms.BoundOf(p.Limit, p.Length, &load)
}

// Gate implements Limit.
func (p Penalty) Gate(space mockprovider.Space) mockprovider.Gate {
	return &penalty{
		meter: newMeter(&p.Terms, p.Limit, space), length: p.Length, block: p.Block, restarts: p.Restarts,
		keys: make([]penaltyKey, p.Counters(space)),
	}
}

// penaltyKey is the current window of one caller or, if it is blocked, the
// block, which is over at end.
type penaltyKey struct {
	windowKey
	blocked bool
}

type penalty struct {
	meter
	length, block time.Duration
	restarts      bool
	opened        bool // Take has just opened the window
	keys          []penaltyKey
}

// Take implements Gate. What can never pass does not block what can.
func (p *penalty) Take(now time.Duration, r *wire.Request) bool {
	k := &p.keys[p.Of(r)]
	n := p.cost(r)
	over := now >= k.end
	if over {
		k.used, k.blocked = 0, false
	}
	switch {
	case k.blocked && !p.restarts, room(n) > p.full:
		return false
	case k.blocked, room(n) > p.limit-k.used:
		k.blocked, k.end = true, saturating.Add(now, p.block)
		return false
	}
	if p.opened = over && n > 0; p.opened {
		k.end = saturating.Add(now, p.length)
	}
	k.used += n
	return true
}

// Refuse implements Gate.
func (p *penalty) Refuse(now time.Duration, r *wire.Request) mockprovider.Verdict {
	s := p.Standing(now, r)
	return p.verdict(r, s.Limit, s.Remaining, s.Reset, s.Reset)
}

// Undo implements Gate. A window that Take has opened has not begun.
func (p *penalty) Undo(_ time.Duration, r *wire.Request) {
	if p.keep != mockprovider.KeepNone {
		return
	}
	k := &p.keys[p.Of(r)]
	k.used -= p.cost(r)
	if p.opened {
		k.end = 0
	}
}

// Release implements Gate.
func (p *penalty) Release(now time.Duration, r *wire.Request, e mockprovider.Ended) {
	if p.settles {
		p.settle(now, r, &e)
	}
}

// settle corrects what r was charged, in the window of the charge. What is
// charged late does not block by itself: the next request does. When a block is
// over, nothing of before counts.
func (p *penalty) settle(now time.Duration, r *wire.Request, e *mockprovider.Ended) {
	k := &p.keys[p.Of(r)]
	n := p.change(r, e)
	switch {
	case p.late():
		if now >= k.end && n > 0 {
			*k = penaltyKey{windowKey: windowKey{end: saturating.Add(now, p.length)}}
		}
		k.used = plus(k.used, n)
	case k.in(e.Since, p.length):
		k.used = plus(k.used, n)
	}
}

// Standing implements StandingReporter. During a block nothing remains.
func (p *penalty) Standing(now time.Duration, r *wire.Request) mockprovider.Standing {
	k := p.keys[p.Of(r)]
	if now >= k.end {
		return p.standing(0, 0)
	}
	s := p.standing(k.used, k.end-now)
	if k.blocked {
		s.Remaining = 0
	}
	return s
}

// Scale implements Scaler.
func (p *penalty) Scale(_ time.Duration, percent int32) { p.scale(percent) }

// Forget implements Forgetter.
func (p *penalty) Forget(account uint32) {
	mockprovider.ForgetAccount(&p.CounterIndex, account, p.keys)
}
