package faults

import (
	"errors"
	"fmt"

	"herdlab/mockprovider"
)

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
