package limits

import (
	"errors"
	"math"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
)

// Ramp is a limit on acceleration: on how fast traffic may grow. Each window
// of length Length lets in Base, and Growth percent of what the last one did. So
// a caller that starts gets Base, then Base·(1 + g), Base·(1 + g + g²), … with
// g = Growth ÷ 100, and a caller that pauses for a window starts again. With KeepAll what is offered counts,
// not what is let in: a step is refused for one window only. Refusals are of
// class wire.Acceleration. Windows are aligned to the provider's clock.
type Ramp struct {
	Base   int32         `unit:"requests" required:"100" about:"How many requests every window allows."`
	Length time.Duration `required:"1m" about:"The length of a window."`
	// Growth is in percent, at least 100: steady traffic is always let in.
	Growth int32 `unit:"%" required:"150%" about:"What a window allows besides, as a share of what the last one allowed, at least 100%."`
	mockprovider.Terms
}

// Validate implements Limit.
func (a Ramp) Validate() error {
	if a.Base < 1 {
		return errors.New("ramp: the base must be at least 1")
	}
	if a.Growth < 100 {
		return errors.New("ramp: the growth must be at least 100 percent, or steady traffic would be refused")
	}
	return validateCount("ramp", a.Base, a.Length, a.Terms)
}

// Bound implements Limit: in the long run a ramp bounds nothing.
func (a Ramp) Bound(mockprovider.Load) mockprovider.Bound { return mockprovider.Bound{} }

// Gate implements Limit.
func (a Ramp) Gate(space mockprovider.Space) mockprovider.Gate {
	g := &ramp{
		meter: newMeter(&a.Terms, math.MaxInt32, space), base: a.Base, floor: a.Base, alignment: alignment{length: a.Length}, growth: int64(a.Growth),
		keys: make([]twoBuckets, a.Counters(space)),
	}
	g.class = wire.Acceleration
	return g
}

type ramp struct {
	meter
	base, floor int32 // as configured, and in force
	alignment
	growth int64
	keys   []twoBuckets
}

// at returns r's counters as they are now, and what this window lets in.
func (a *ramp) at(now time.Duration, r *wire.Request) (k *twoBuckets, limit int32) {
	k = &a.keys[a.Of(r)]
	k.roll(now, &a.alignment)
	return k, atMost32(uint64(int64(a.floor) + int64(k.last)*a.growth/100))
}

// Take implements Gate.
func (a *ramp) Take(now time.Duration, r *wire.Request) bool {
	k, limit := a.at(now, r)
	n := a.cost(r)
	if room(n) > limit-k.used {
		if a.keep == mockprovider.KeepAll {
			k.used = plus(k.used, n)
		}
		return false
	}
	k.used += n
	return true
}

// Refuse implements Gate. There is room in the next window.
func (a *ramp) Refuse(now time.Duration, r *wire.Request) mockprovider.Verdict {
	s := a.Standing(now, r)
	return mockprovider.Verdict{
		Class: a.class, Allowance: s.Allowance, Admission: mockprovider.AdmittedAfter(s.Reset), Reset: s.Reset,
	}
}

// Undo implements Gate.
func (a *ramp) Undo(_ time.Duration, r *wire.Request) {
	if a.keep == mockprovider.KeepNone {
		a.keys[a.Of(r)].used -= a.cost(r)
	}
}

// Release implements Gate.
func (a *ramp) Release(now time.Duration, r *wire.Request, e mockprovider.Ended) {
	if a.settles {
		a.settle(now, r, &e)
	}
}

// settle corrects what r was charged, in the window of the charge.
func (a *ramp) settle(now time.Duration, r *wire.Request, e *mockprovider.Ended) {
	k, _ := a.at(now, r)
	if a.late() {
		e.Since = now
	}
	k.change(e.Since, a.length, a.change(r, e))
}

// Standing implements StandingReporter. Limit is that of the current window.
func (a *ramp) Standing(now time.Duration, r *wire.Request) mockprovider.Standing {
	k, limit := a.at(now, r)
	return mockprovider.Standing{
		Allowance: mockprovider.Allowance{Limit: limit, Remaining: max(0, limit-k.used)}, Used: k.used, Reset: saturating.Add(k.start, a.length) - now,
	}
}

// Scale implements Scaler. What is cut is the base.
func (a *ramp) Scale(_ time.Duration, percent int32) { a.floor = int32(cut(int64(a.base), percent, 1)) }

// Forget implements Forgetter.
func (a *ramp) Forget(account uint32) { mockprovider.ForgetAccount(&a.CounterIndex, account, a.keys) }

// SetClock implements ClockSetter.
func (a *ramp) SetClock(now, ahead time.Duration) { setClock(a.keys, &a.alignment, now, ahead) }
