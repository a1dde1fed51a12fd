package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Shedder keeps the less urgent calls away while the provider refuses a share of
// what is sent, so that what it does accept is what matters most. Calls of
// priority 0 are never shed, those of priority p once Above[p−1] per cent of the
// attempts within the window were refused; each step down goes earlier. A shed
// call waits, or is settled with Shed.
//
// It is right where interactive and batch work share an account: without it, the
// batch that retries starves the people who wait. It reacts to refusals, so it
// needs some traffic to go by, and it lets the batch back in by itself when the
// window has no more of them.
type Shedder struct {
	// Above is the shares in per cent, for priority 1, 2, …; the last one holds for
	// all less urgent ones too. They must not rise.
	Above []int `unit:"%" required:"[20, 10]" about:"The share of refused attempts above which calls of priority 1, 2, … are dropped, in falling order; the last one holds for all further priorities."`
	// Window is how far it looks back, in ten steps.
	Window time.Duration `required:"1m" about:"How far back attempts are counted."`
	// Min is how many attempts there must be within the window; 0 means 1.
	Min int `unit:"attempts" default:"1" about:"How many attempts within that time a share needs."`
	// On is what counts as refused; none means the caller's own limits, overload
	// and timeouts.
	On strategies.Classes `without:"the limits, overloaded, timeout" about:"Which failures count as refused."`
	// Hold is how long a shed call waits before it asks again, plus U(0, Jitter);
	// 0 settles it at once.
	Hold   time.Duration `without:"it fails at once" about:"How long a dropped call waits before it asks again."`
	Jitter time.Duration `default:"0s" about:"The width of what is drawn evenly and added to that wait."`
	// Scope is who shares the counts, PerClient or wider; Name tells shedders
	// apart that everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

const shedderSlices = slidingSum(10)

// Build implements Layer.
func (s Shedder) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("shedder: %w", err)
	}
	s.On = s.On.Or(strategies.Limits | strategies.ClassesOf(wire.Overloaded, wire.Timeout))
	counts, err := b.ReserveShared(s.Scope, 2*shedderSlices.words(), "shedder", s.Name, fmt.Sprintf("%v within %v", s.On, s.Window))
	if err != nil {
		return nil, fmt.Errorf("shedder: %w", err)
	}
	return b.Guard(&shedder{s, counts, b.Purpose()}, inner)
}

func (s *Shedder) validate() error {
	if len(s.Above) == 0 {
		return errors.New("it needs the share of refusals above which priority 1 is shed")
	}
	last := 100
	for i, p := range s.Above {
		if p < 1 || p > last {
			return fmt.Errorf("the share for priority %d must be 1 to %d %%, not %d", i+1, last, p)
		}
		last = p
	}
	switch {
	case s.Window < time.Duration(shedderSlices) || s.Min < 0:
		return fmt.Errorf("the window must be 10 ns or more and the least number of attempts not negative, not %v and %d", s.Window, s.Min)
	case s.Hold < 0 || s.Jitter < 0 || s.Hold == 0 && s.Jitter > 0:
		return errors.New("the time to hold a shed call and its jitter must not be negative; without the first, it is settled and there is no jitter")
	}
	return nil
}

type shedder struct {
	Shedder
	counts  strategies.Slot
	purpose strategies.Purpose
}

// sums returns the sliding sums of attempts and of refusals.
func (s *shedder) sums(now time.Duration, c *strategies.Call) (all, refused []int64) {
	w, at := c.Words(s.counts), int64(now/(s.Window/time.Duration(shedderSlices)))
	all, refused = w[:shedderSlices.words()], w[shedderSlices.words():]
	shedderSlices.advance(all, at)
	shedderSlices.advance(refused, at)
	return all, refused
}

// Admit implements Guard.
func (s *shedder) Admit(now time.Duration, c *strategies.Call) strategies.Decision {
	p := int(c.Demand.Priority)
	if p == 0 {
		return strategies.Decision{}
	}
	a, r := s.sums(now, c)
	all, refused := shedderSlices.sum(a), shedderSlices.sum(r)
	if all < int64(max(s.Min, 1)) || 100*refused < int64(s.Above[min(p, len(s.Above))-1])*all {
		return strategies.Decision{}
	}
	if s.Hold == 0 {
		return strategies.StopWith(strategies.Shed, wire.Overloaded)
	}
	return strategies.Decision{Kind: strategies.Wait, After: saturating.Add(s.Hold, c.Uniform(s.purpose, 0, s.Jitter))}
}

// Observe implements Guard.
func (s *shedder) Observe(now time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) {
	if !e.Terminal() || d.End.Class == wire.Cancelled {
		return
	}
	all, refused := s.sums(now, c)
	shedderSlices.add(all, 1)
	if s.On.Has(d.End.Class) {
		shedderSlices.add(refused, 1)
	}
}
