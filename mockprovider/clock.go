package mockprovider

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
)

// Clock returns the time that the provider's clock shows at now: the time of
// the run, unless a fault has set it wrong.
func (p *Provider) Clock(now time.Duration) time.Duration {
	ahead := p.faults.strain.ahead
	if ahead > 0 {
		return saturating.Add(now, ahead)
	}
	return now + ahead
}

// dated returns the time on the provider's clock that is d after now, rounded up
// to the unit, or down; never if that is too large. It does not return
// wire.NoHint.
func (p *Provider) dated(now, d, unit time.Duration, down bool) time.Duration {
	t := p.Clock(now)
	if d > never-max(t, 0) {
		return never
	}
	if t = rounded(t+d, unit, down); t == wire.NoHint {
		return 0
	}
	return t
}
