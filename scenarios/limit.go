package scenarios

import (
	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
)

// limitKinds are the limitKinds that a provider may have.
var limitKinds = []kind{
	{"window", mockprovider.Window{}},
	{"joint", mockprovider.Joint{}},
	{"sliding_log", mockprovider.SlidingLog{}},
	{"sliding_counter", mockprovider.SlidingCounter{}},
	{"token_bucket", mockprovider.TokenBucket{}},
	{"gcra", mockprovider.GCRA{}},
	{"leaky_bucket", mockprovider.LeakyBucket{}},
	{"concurrency", mockprovider.Semaphore{}},
	{"quota", mockprovider.Quota{}},
	{"ramp", mockprovider.Ramp{}},
	{"penalty", mockprovider.Penalty{}},
	{"sliced", mockprovider.Sliced{}},
	{"only", mockprovider.Only{}},
	{"tiered", mockprovider.Tiered{}},
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
