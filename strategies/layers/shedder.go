package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Shedder drops or delays less urgent calls while the provider refuses a share of
// the attempts, so that the most urgent calls are served. Calls of priority 0 are
// never shed; calls of priority p are shed when at least Above[p−1] per cent of the
// attempts within the window were refused. A shed call waits, or fails with Shed.
//
// Use it where interactive and batch work share an account: without it, a batch
// that retries takes the capacity of the interactive calls. It reacts to refusals,
// so it needs some traffic, and it admits the batch again when the refusals have
// left the window.
type Shedder struct {
	// Above lists the shares in per cent, 1 to 100, for priority 1, 2, …; the last
	// one holds for all further priorities. They must not rise.
	Above []int `unit:"%" required:"[20, 10]" about:"The share of refused attempts above which calls of priority 1, 2, … are dropped, in falling order; the last one holds for all further priorities."`
	// Window is the time for which attempts count, in ten steps; at least 10 ns.
	Window time.Duration `required:"1m" about:"How far back attempts are counted."`
	// Min is the least number of attempts within the window for a share to count; 0
	// means 1.
	Min int `unit:"attempts" default:"1" about:"How many attempts within that time a share needs."`
	// On is the set of classes that count as refused; the empty set means the
	// caller's own limits, overload and timeouts.
	On strategies.Classes `without:"the limits, overloaded, timeout" about:"Which failures count as refused."`
	// Hold is how long a shed call waits before it asks again; a draw from U(0,
	// Jitter) is added. With 0 it fails at once.
	Hold   time.Duration `without:"it fails at once" about:"How long a dropped call waits before it asks again."`
	Jitter time.Duration `default:"0s" about:"The width of what is drawn evenly and added to that wait."`
	// Scope sets which clients share the counts, PerClient or wider. Name
	// identifies counts with the scope PerEveryone.
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
		return errors.New("above must have at least one entry: the share of refusals at which priority 1 is shed")
	}
	last := 100
	for i, p := range s.Above {
		if p < 1 || p > last {
			return fmt.Errorf("above: the share for priority %d must be 1 to %d %%, not %d", i+1, last, p)
		}
		last = p
	}
	switch {
	case s.Window < time.Duration(shedderSlices) || s.Min < 0:
		return fmt.Errorf("window must be at least 10ns and min not negative, not %v and %d", s.Window, s.Min)
	case s.Hold < 0 || s.Jitter < 0 || s.Hold == 0 && s.Jitter > 0:
		return errors.New("hold and jitter must not be negative, and jitter needs a positive hold")
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
