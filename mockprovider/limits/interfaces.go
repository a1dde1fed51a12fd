package limits

import "herdlab/mockprovider"

// Every gate has what the kernel asks for beside Gate itself; some are aligned
// to the provider's clock too.
var (
	_ = []interface {
		mockprovider.Gate
		mockprovider.Scaler
		mockprovider.Forgetter
		mockprovider.StandingReporter
	}{
		(*window)(nil), (*joint)(nil), (*slidingLog)(nil), (*slidingCounter)(nil), (*tokenBucket)(nil), (*semaphore)(nil),
		(*ramp)(nil), (*penalty)(nil), (*sliced)(nil), tiers(nil),
	}
	_ = []mockprovider.ClockSetter{(*window)(nil), (*joint)(nil), (*slidingCounter)(nil), (*ramp)(nil), (*sliced)(nil), tiers(nil)}
)
