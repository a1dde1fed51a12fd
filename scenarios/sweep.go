package scenarios

import (
	"fmt"

	"herdlab/sim"
	"herdlab/sim/sweep"
	"herdlab/strategies"
	"herdlab/strategies/presets"
)

// Add adds the caller's strategy to the comparison, after those of the file. Call
// it before the first experiment is made. It returns an error if the name is in
// use or the stack cannot be built.
func (s *Scenario) Add(d strategies.Definition) error {
	for i := range s.choices {
		if s.choices[i].Name == d.Name {
			return fmt.Errorf("scenario %s: there is already a strategy %q; choose another name", s.name, d.Name)
		}
	}
	c := choice{
		Choice: Choice{d.Name, d.Summary},
		define: func(presets.Knowledge) strategies.Definition { return d },
	}
	if _, err := c.compile(knowledge(s.bound), s.fleets); err != nil {
		return fmt.Errorf("scenario %s: %w", s.name, err)
	}
	s.choices = append(s.choices, c)
	return nil
}

// Spec returns the comparison of all strategies with the n seeds from first on. The
// caller may narrow it, or set an objective, before running it.
func (s *Scenario) Spec(first uint64, n int) sweep.Spec {
	spec := sweep.Spec{
		Scenario: s.Describe(),
		New:      func(strategy int, seed uint64) (*sim.Experiment, error) { return s.Experiment(strategy, seed) },
	}
	for i := range n {
		spec.Seeds = append(spec.Seeds, first+uint64(i))
	}
	for _, c := range s.Strategies() {
		spec.Strategies = append(spec.Strategies, sweep.Strategy{Name: c.Name, Summary: c.Summary})
	}
	return spec
}
