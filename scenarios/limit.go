package scenarios

import (
	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
)

// limitKinds are the limits that a provider may have.
var limitKinds = []Kind{
	{Name: "window", Prototype: limits.Window{},
		Summary: "At most a number in each window of a fixed length."},
	{Name: "joint", Prototype: limits.Joint{},
		Summary: "Requests started in this window and requests in flight may be a number together."},
	{Name: "sliding_log", Prototype: limits.SlidingLog{},
		Summary: "At most a number in any interval of a length, exactly."},
	{Name: "sliding_counter", Prototype: limits.SlidingCounter{},
		Summary: "About a number in any interval of a length, from two counters."},
	{Name: "token_bucket", Prototype: limits.TokenBucket{},
		Summary: "A bucket from which each request takes a token; tokens come back at a rate."},
	{Name: "gcra", Prototype: limits.GCRA{},
		Summary: "Requests are due one interval apart, and may come early by a tolerance (generic cell rate algorithm)."},
	{Name: "leaky_bucket", Prototype: limits.LeakyBucket{},
		Summary: "A bucket that each request fills by 1 and that drains at a rate."},
	{Name: "concurrency", Prototype: limits.Semaphore{},
		Summary: "At most a number in flight, requests in the queue included."},
	{Name: "quota", Prototype: limits.Quota{},
		Summary: "A number that is used up, and renewed once a day or never."},
	{Name: "ramp", Prototype: limits.Ramp{},
		Summary: "Traffic may grow only by a share from one window to the next (acceleration limit)."},
	{Name: "penalty", Prototype: limits.Penalty{},
		Summary: "More than a number in a window blocks the caller for a time."},
	{Name: "sliced", Prototype: limits.Sliced{},
		Summary: "A window that is enforced in shorter slices: 600/min as 10 in each second."},
	{Name: "only", Prototype: limits.Only{},
		Summary: "A limit for some of the requests; the others pass."},
	{Name: "tiered", Prototype: limits.Tiered{},
		Summary: "Limits for different requests: the first that matches decides."},
}

// limit reads one limit of a provider; nil if the file does not name one.
func (d *decoder) limit(n *yaml.Node) mockprovider.Limit {
	before := d.count()
	v := d.choose(n, "limit", d.format.allLimits())
	if !v.IsValid() {
		return nil
	}
	l := v.Interface().(mockprovider.Limit)
	if d.count() == before {
		if err := l.Validate(); err != nil {
			d.complain(n, "%v", err)
		}
	}
	return l
}

// kept returns the rule of a limit with those settings that states none itself: the
// provider's, unless refused requests are not charged.
func (d *decoder) kept(of []setting) mockprovider.Keep {
	for i := range of {
		if c, ok := of[i].to.Interface().(mockprovider.Charge); ok && c.When == mockprovider.AtCompletion {
			return mockprovider.KeepNone
		}
	}
	return d.keep
}
