package faults

import (
	"errors"
	"time"

	"herdlab/mockprovider"
)

// Skew sets the provider's clock wrong: the dates and reset times that it states,
// and the windows and days that its limits align to it. Waits are right all the
// same. Several add up.
type Skew struct {
	// Ahead is by how much the clock is ahead; it is behind where negative.
	Ahead time.Duration `least:"-87600h" required:"30s" about:"How far the provider's clock is ahead; behind if negative."`
}

// Name implements Disturbance.
func (Skew) Name() string { return "skew" }

// Validate implements Disturbance.
func (d Skew) Validate() error {
	if d.Ahead == 0 {
		return errors.New("the clock is right; state by how much it is ahead, or behind with a minus")
	}
	return mockprovider.ValidateDuration("how wrong the clock is", max(d.Ahead, -d.Ahead))
}

// Hooks implements Disturbance.
func (d Skew) Hooks(mockprovider.Space) mockprovider.Hooks {
	return mockprovider.Hooks{Strain: func(s *mockprovider.Strain, _ *mockprovider.Match) { s.AdvanceClock(d.Ahead) }}
}
