package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Throttle refuses attempts at random while the provider accepts too few: with the
// probability (requests − K·accepts)/(requests + 1), if that is positive, where
// both are counted over a sliding window and requests include those refused here.
// So a client sends at most about K times the attempts that are accepted, and still
// notices when more would be.
//
// Use it where a refusal costs the provider nearly as much as an answer. A smaller
// K sends fewer attempts that are refused and notices a recovery later; in a total
// outage about one attempt per Window goes through, for any number of calls.
// (Google, Site Reliability Engineering, "Handling Overload": K = 2, two minutes.)
type Throttle struct {
	// K is the number of attempts sent for each that the provider accepts, 1 to
	// 1,000,000; 0 means 2.
	K float64 `unit:"times" default:"2" about:"How many attempts are sent for each that the provider accepts, at least 1."`
	// Window is the time for which attempts count, in ten steps, at least 10 ns; 0
	// means 2 min.
	Window time.Duration `default:"2m" about:"How far back attempts are counted."`
	// On is the set of classes that mean that the provider did not accept an
	// attempt; the empty set means Transient. A bad request counts as accepted.
	On strategies.Classes `without:"the transient classes" about:"Which ends of attempts mean that the provider did not accept them."`
	// Scope sets which clients share the counts, PerClient or wider. Name
	// identifies counts with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// throttleSlices is the number of slices of the window.
const throttleSlices = slidingSum(10)

// Build implements Layer.
func (t Throttle) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if t.K == 0 {
		t.K = 2
	}
	if t.Window == 0 {
		t.Window = 2 * time.Minute
	}
	if !(t.K >= 1 && t.K <= 1e6) || t.Window < time.Duration(throttleSlices) { // nor NaN
		return nil, fmt.Errorf("throttle: k must be 1 to 1000000 and window at least 10ns, not %v and %v", t.K, t.Window)
	}
	t.On = t.On.Or(strategies.Transient)
	counts, err := b.ReserveShared(t.Scope, 2*throttleSlices.words(), "throttle", t.Name, fmt.Sprintf("%+v", t))
	if err != nil {
		return nil, fmt.Errorf("throttle: %w", err)
	}
	own, err := b.Reserve(strategies.PerCall, 1, "")
	if err != nil {
		return nil, err
	}
	return b.Guard(&throttle{t, counts, own, b.Purpose()}, inner)
}

type throttle struct {
	Throttle
	counts  strategies.Slot
	own     strategies.Slot // 1 while an attempt of the call was admitted and its end not counted
	purpose strategies.Purpose
}

// sums returns the sliding sums of requests and of accepts.
func (t *throttle) sums(now time.Duration, c *strategies.Call) (requests, accepts []int64) {
	w, at := c.Words(t.counts), int64(now/(t.Window/time.Duration(throttleSlices)))
	requests, accepts = w[:throttleSlices.words()], w[throttleSlices.words():]
	throttleSlices.advance(requests, at)
	throttleSlices.advance(accepts, at)
	return requests, accepts
}

// Admit implements Guard.
func (t *throttle) Admit(now time.Duration, c *strategies.Call) strategies.Decision {
	requests, accepts := t.sums(now, c)
	n := float64(throttleSlices.sum(requests))
	over := n - float64(t.K*float64(throttleSlices.sum(accepts)))
	throttleSlices.add(requests, 1)
	if over > 0 && float64(c.Float(t.purpose)*(n+1)) < over {
		return strategies.StopWith(strategies.LimiterRefused, wire.Overloaded)
	}
	*c.Word(t.own, 0) = 1
	return strategies.Decision{}
}

// Observe implements Guard.
func (t *throttle) Observe(now time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) {
	own := c.Word(t.own, 0)
	if *own == 0 {
		return // the cancellation of a call is observed for each attempt and once more
	}
	*own = 0
	requests, accepts := t.sums(now, c)
	switch {
	case !e.Terminal() || d.End.Class == wire.Cancelled: // the outcome is unknown
		throttleSlices.add(requests, -1)
	case !t.On.Has(d.End.Class):
		throttleSlices.add(accepts, 1)
	}
}
