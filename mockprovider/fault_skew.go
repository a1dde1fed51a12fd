package mockprovider

import (
	"errors"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
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
	return validateLength("how wrong the clock is", max(d.Ahead, -d.Ahead))
}

func (d Skew) hooks(Space) hooks {
	return hooks{strain: func(s *strain, _ *Match) { s.ahead = min(max(s.ahead+d.Ahead, -longest), longest) }}
}

// clock is what the provider's clock shows at now.
func (p *Provider) clock(now time.Duration) time.Duration {
	ahead := p.faults.strain.ahead
	if ahead > 0 {
		return saturating.Add(now, ahead)
	}
	return now + ahead
}

// dated is the time on the provider's clock that is d after now, rounded up to
// the unit, or down; never if that is it. No time is written as wire.NoHint.
func (p *Provider) dated(now, d, unit time.Duration, down bool) time.Duration {
	t := p.clock(now)
	if d > never-max(t, 0) {
		return never
	}
	if t = rounded(t+d, unit, down); t == wire.NoHint {
		return 0
	}
	return t
}
