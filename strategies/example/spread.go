// Package main adds a strategy to herdlab from outside: one file for the
// strategy, one test, and one line that puts it into a comparison.
package main

import (
	"time"

	"herdlab/strategies"
)

// Spread is a retry loop without a schedule: before each retry it waits
// Least + U(0, age), where age is how long its call has been waiting. The
// longer an outage has lasted, the wider the herd comes back.
type Spread struct {
	Least time.Duration
}

// Build makes a program of the configuration: a loop around what is inside,
// with a purpose of its own for its draws.
func (s Spread) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return b.Loop(&spread{s, b.Purpose()}, inner)
}

type spread struct {
	Spread
	purpose strategies.Purpose
}

// Start has nothing to remember: all it needs, the call knows.
func (s *spread) Start(time.Duration, *strategies.Call) {}

// After hears how an attempt ended: d is what the layer would say without us.
func (s *spread) After(now time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) strategies.Decision {
	if d.End.Reason != strategies.Failed || !d.End.Class.Transient() {
		return d // a success, or nothing that waiting would cure
	}
	wait := s.Least
	if e.Outcome != nil && e.Outcome.RetryAfter > wait {
		wait = e.Outcome.RetryAfter // never come back before we were asked to
	}
	return strategies.Decision{Kind: strategies.Wait, After: wait + c.Uniform(s.purpose, 0, now-c.Born)}
}
