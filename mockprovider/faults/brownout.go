package faults

import (
	"errors"
	"fmt"

	"herdlab/mockprovider"
)

// Brownout leaves the provider a part of its slots, or some models and regions,
// which Where may name, a part of theirs. What is in service is carried on, and
// what waits is served by the slots that are left. Several multiply.
type Brownout struct {
	// Percent is what is left, 0 to 99; at least one slot is, unless it is 0.
	Percent int32 `unit:"%" most:"99" required:"40%" about:"Which share of the slots remains, at least one slot unless it is 0."`
}

// Name implements Disturbance.
func (Brownout) Name() string { return "brownout" }

// Validate implements Disturbance.
func (d Brownout) Validate() error { return validatePercent(d.Percent) }

// CheckConfig implements ConfigChecker.
func (d Brownout) CheckConfig(c *mockprovider.Config, where *mockprovider.Match) error {
	space, all := c.FullSpace(), mockprovider.Range{}
	if where.Models != all && space.Models == 0 || where.Regions != all && space.Regions == 0 {
		return errors.New("the provider does not distinguish the models or regions that it is for; leave out where")
	}
	for m := range max(space.Models, 1) {
		if where.Models.Has(uint32(m)) && (c.CapacityOf(m).Slots > 0 || d.Percent == 0) {
			return nil
		}
	}
	return errors.New("there is no part of unbounded slots; bound them, or use latency")
}

// Hooks implements Disturbance.
func (d Brownout) Hooks(mockprovider.Space) mockprovider.Hooks {
	return mockprovider.Hooks{ByStation: true, Strain: func(s *mockprovider.Strain, where *mockprovider.Match) { s.CutCapacity(where, d.Percent) }}
}

func validatePercent(percent int32) error {
	if percent < 0 || percent > 99 {
		return fmt.Errorf("%d %% is no part that is left; use 0 to 99", percent)
	}
	return nil
}
