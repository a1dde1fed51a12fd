package limits

import (
	"fmt"
	"time"

	"herdlab/mockprovider"
)

// GCRA is the generic cell rate algorithm (ITU-T I.371): requests are due one
// Interval apart, and one may come up to Tolerance too early. A request that
// comes later than due makes the next due an Interval after it. It is a token
// bucket of 1 + Tolerance ÷ Interval that gets a token each Interval, so any
// interval of length t sees at most 1 + (Tolerance + t) ÷ Interval.
//
// Replies state that size as the limit, as redis-cell does.
type GCRA struct {
	// Interval is the emission interval, > 0. Tolerance is the delay variation
	// tolerance, ≥ 0; it need not be a multiple of the interval.
	Interval  time.Duration `required:"500ms" about:"How far apart requests are due."`
	Tolerance time.Duration `default:"0s" about:"How much too early a request may come."`
	mockprovider.Terms
}

// burst is how many may come at once.
func (g *GCRA) burst() int64 { return 1 + int64(g.Tolerance/g.Interval) }

// Validate implements Limit.
func (g GCRA) Validate() error {
	switch {
	case g.Interval <= 0 || g.Interval > mockprovider.Longest:
		return fmt.Errorf("gcra: the interval must be 1ns to %v, not %v", mockprovider.Longest, g.Interval)
	case g.Tolerance < 0 || g.Tolerance > mockprovider.Longest-g.Interval:
		return fmt.Errorf("gcra: the tolerance must be 0 to %v, not %v", mockprovider.Longest-g.Interval, g.Tolerance)
	}
	return validateCount("gcra", atMost32(uint64(g.burst())), g.Interval, g.Terms)
}

// Bound implements Limit: one in each interval.
func (g GCRA) Bound(load mockprovider.Load) mockprovider.Bound {
	return g.Terms.BoundOf(1, g.Interval, &load)
}

// Gate implements Limit.
func (g GCRA) Gate(space mockprovider.Space) mockprovider.Gate {
	burst := atMost32(uint64(g.burst()))
	b := &tokenBucket{meter: newMeter(&g.Terms, burst, space), stated: burst, keys: make([]bucket, g.Counters(space))}
	b.rate, b.token = 1, int64(g.Interval)
	b.fill(int64(g.Tolerance + g.Interval))
	return b
}
