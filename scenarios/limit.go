package scenarios

import (
	"reflect"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
)

// limits are the limits that a provider may have.
var limits = []kind{
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

// limit reads one limit of a provider that keeps what keep says, where it says
// nothing itself; nil if it cannot be told which.
func (d *decoder) limit(n *yaml.Node, keep mockprovider.Keep) mockprovider.Limit {
	before := d.count()
	v := d.choose(n, "limit", limits)
	if !v.IsValid() {
		return nil
	}
	if v.Kind() == reflect.Struct {
		if f := v.FieldByName("Terms"); f.IsValid() && f.FieldByName("Keep").IsZero() {
			f.FieldByName("Keep").Set(reflect.ValueOf(keep))
		}
	}
	l := v.Interface().(mockprovider.Limit)
	if d.count() == before {
		if err := l.Validate(); err != nil {
			d.complain(n, "%v", err)
		}
	}
	return l
}
