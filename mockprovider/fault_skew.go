package mockprovider

import (
	"errors"
	"time"
)

// Skew sets the provider's clock wrong: the dates and reset times that it tells,
// and the windows and days that its limits align to it. Waits are right all the
// same. Several add up.
type Skew struct {
	// Ahead is by how much the clock is ahead; it is behind where negative.
	Ahead time.Duration
}

// Name implements Disturbance.
func (Skew) Name() string { return "skew" }

// Validate implements Disturbance.
func (d Skew) Validate() error {
	if d.Ahead == 0 {
		return errors.New("the clock is right; say by how much it is ahead, or behind with a minus")
	}
	return ValidateDuration("how wrong the clock is", max(d.Ahead, -d.Ahead))
}

// Hooks implements Disturbance.
func (d Skew) Hooks(Space) Hooks {
	return Hooks{Strain: func(s *Strain, _ *Match) { s.AdvanceClock(d.Ahead) }}
}
