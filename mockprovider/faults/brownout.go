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

// LimitCut leaves callers a part of a limit. What has been counted stays
// counted. Several multiply.
type LimitCut struct {
	// Limit is the number of the limit in the configuration, from 1; 0 cuts all
	// that can be cut.
	Limit int `unit:"number of a limit" least:"1" without:"all that can be cut" about:"Which limit of the provider is lowered, counted from 1."`
	// Percent is what is left, 0 to 99; at least 1 of what it counts is, unless
	// it is 0.
	Percent int32 `unit:"%" most:"99" required:"50%" about:"Which share of the limit remains."`
}

// Name implements Disturbance.
func (LimitCut) Name() string { return "limit cut" }

// Validate implements Disturbance.
func (d LimitCut) Validate() error {
	if d.Limit < 0 {
		return errors.New("limits count from 1; 0 is all")
	}
	return validatePercent(d.Percent)
}

// CheckConfig implements ConfigChecker.
func (d LimitCut) CheckConfig(c *mockprovider.Config, _ *mockprovider.Match) error {
	if d.Limit > len(c.Limits) {
		return fmt.Errorf("there is no limit %d; the provider has %d", d.Limit, len(c.Limits))
	}
	for i, l := range c.Limits {
		if l == nil || l.Validate() != nil {
			return nil // Config.Validate reports that
		}
		if _, can := l.Gate(mockprovider.Space{}).(mockprovider.Scaler); can && (d.Limit == 0 || d.Limit == i+1) {
			return nil
		}
	}
	if d.Limit > 0 {
		return fmt.Errorf("limit %d cannot be cut", d.Limit)
	}
	return errors.New("the provider has no limit that can be cut")
}

// Hooks implements Disturbance.
func (d LimitCut) Hooks(mockprovider.Space) mockprovider.Hooks {
	return mockprovider.Hooks{Strain: func(s *mockprovider.Strain, _ *mockprovider.Match) { s.CutLimit(d.Limit, d.Percent) }}
}

func validatePercent(percent int32) error {
	if percent < 0 || percent > 99 {
		return fmt.Errorf("%d %% is no part that is left; use 0 to 99", percent)
	}
	return nil
}
