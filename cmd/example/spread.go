package main

import (
	"time"

	"herdlab/strategies"
	"herdlab/strategies/presets"
)

// Spread is a retry loop without a schedule: before each retry it waits
// Least + U(0, age), where age is the time since the call arrived. The longer
// an outage has lasted, the wider the retries are spread.
type Spread struct {
	Least time.Duration `about:"The shortest wait." default:"0s"`
}

// Build implements strategies.Layer: a loop around the inner layers, with a
// purpose of its own for its draws.
func (s Spread) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return b.Loop(&spread{s, b.Purpose()}, inner)
}

type spread struct {
	Spread
	purpose strategies.Purpose
}

// Start implements strategies.Loop. The loop has no memory.
func (s *spread) Start(time.Duration, *strategies.Call) {}

// After implements strategies.Loop: d is the decision that ends the call unless the
// loop retries.
func (s *spread) After(now time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) strategies.Decision {
	if d.End.Reason != strategies.Failed || !d.End.Class.Transient() {
		return d // a success, or an error that a wait does not cure
	}
	wait := max(s.Least, e.Hint()) // not before the time that the reply asks for
	return strategies.Decision{Kind: strategies.Wait, After: wait + c.Uniform(s.purpose, 0, now-c.Born)}
}

// Definition returns the strategy for a comparison.
func (s Spread) Definition() strategies.Definition {
	return strategies.Definition{
		Name:    "spread",
		Summary: "wait U(0, age of the call): as wide as the outage was long",
		Layers:  []strategies.Layer{s},
	}
}

// builtin returns the strategy for the table of strategies that files may name.
func (s Spread) builtin() presets.Builtin {
	d := s.Definition()
	return presets.Builtin{Name: d.Name, Summary: d.Summary, Define: func(presets.Knowledge) strategies.Definition { return d }}
}
