package scenarios

import (
	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
)

// limitKinds are the limitKinds that a provider may have.
var limitKinds = []kind{
	{"window", limits.Window{}},
	{"joint", limits.Joint{}},
	{"sliding_log", limits.SlidingLog{}},
	{"sliding_counter", limits.SlidingCounter{}},
	{"token_bucket", limits.TokenBucket{}},
	{"gcra", limits.GCRA{}},
	{"leaky_bucket", limits.LeakyBucket{}},
	{"concurrency", limits.Semaphore{}},
	{"quota", limits.Quota{}},
	{"ramp", limits.Ramp{}},
	{"penalty", limits.Penalty{}},
	{"sliced", limits.Sliced{}},
	{"only", limits.Only{}},
	{"tiered", limits.Tiered{}},
}

// limit reads one limit of a provider; nil if it cannot be told which.
func (d *decoder) limit(n *yaml.Node) mockprovider.Limit {
	before := d.count()
	v := d.choose(n, "limit", limitKinds)
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

// kept is what a limit with those settings keeps if it does not say so itself:
// what the provider says, unless nothing is charged to who is refused.
func (d *decoder) kept(of []setting) mockprovider.Keep {
	for _, f := range of {
		if c, ok := f.to.Interface().(mockprovider.Charge); ok && c.When == mockprovider.AtCompletion {
			return mockprovider.KeepNone
		}
	}
	return d.keep
}
