package scenarios

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
)

// kind is one of several things that a file may choose between, each with
// settings of its own: a layer, a backoff, a limit, a fault. Its settings are
// the exported fields of prototype, a struct, under their names in snake case.
type kind struct {
	name      string
	prototype any
}

// bind reads settings into the exported fields of the structs to, which say by
// their types what a file may write. at is where a missing setting is reported.
//
// A count beside a length of time, such as Limit and Length or Rate and Per, is
// one setting, a rate; how a limit refuses is several; what an embedded struct
// has is as if the struct itself had it. Fields that the file does not mention
// stay as they are.
func (d *decoder) bind(at, n *yaml.Node, what string, to ...reflect.Value) *section {
	var fields []setting
	var keys []string
	for _, v := range to {
		fields = append(fields, settings(v)...)
	}
	for _, f := range fields {
		if keys = append(keys, f.key); f.to.Type() == refusalType {
			keys = append(keys, refusalKeys...)
		}
	}
	s := d.section(at, n, what, keys...)
	for _, f := range fields {
		v := s.get(f.key)
		switch {
		case f.to.Type() == refusalType:
			s.refuses(f.key, f.to.Addr().Interface().(*mockprovider.Refusal))
		case f.per.IsValid():
			if v = s.need(f.key, cmp.Or(needed[what+"."+f.key], "120/min")); v != nil {
				d.bindRate(v, what, f)
			}
		case v != nil:
			d.value(at, v, f.key, f.to)
		case f.to.Type() == keepType:
			f.to.Set(reflect.ValueOf(d.kept(fields)))
		case needed[what+"."+f.key] != "":
			s.need(f.key, needed[what+"."+f.key])
		}
	}
	return s
}

// needed are the settings whose absence is better said here than by whoever
// validates the whole, each with an example.
var needed = map[string]string{
	"code_in_body.name": "our-gateway",
	"concurrency.limit": "20", "token_bucket.burst": "20", "leaky_bucket.size": "20", "outage.from": "0s", "outage.to": "300s",
	"capacity.service": "2s", "window.limit": "600/min", "joint.limit": "20/s", "sliding_log.limit": "600/min", "sliding_counter.limit": "600/min",
	"gcra.interval": "500ms", "quota.limit": "500", "ramp.base": "100", "ramp.length": "1m", "ramp.growth": "150%", "penalty.block": "30s",
	"sliced.slices": "60", "only.limit": "{concurrency: {limit: 10}}", "brownout.percent": "40%", "limit_cut.percent": "50%",

	"retry.backoff": "{full_jitter: {base: 1s, cap: 1m}}", "orbit.mean": "10s", "hedge.after": "2s",
	"ladder.rungs": "[{model: flagship, tries: 2}, {model: light}]", "failover.regions": "[eu, us]", "key_rotation.keys": "[0, 1]",
	"deployments.targets": "[{key: 0}, {key: 1}]", "gcra.burst": "3", "min_interval.every": "300ms", "daily_budget.quota": "500",
	"concurrency.permits": "5", "bulkhead.permits": "5", "recursive_semaphore.permits": "2",
	"breaker.open_for": "30s", "shedder.above": "[20, 10]", "shedder.window": "1m", "cool_down.for": "30s",
	"grpc_budget.max_tokens": "10", "grpc_budget.ratio": "100", "aws_budget.capacity": "500", "aws_budget.cost": "5", "brooker_budget.size": "5",
	"attempt_timeout.after": "30s", "deadline.within": "30s", "cache.ttl": "5m", "merge.size": "10", "merge.window": "1s", "capacity_alarm.after": "1h",
	"exponential.base": "1s", "full_jitter.base": "1s", "equal_jitter.base": "1s", "decorrelated_jitter.base": "1s", "polly_jitter.base": "1s",
	"uniform.high": "150s", "memoryless.mean": "10s", "proportional.of": "{exponential: {base: 1s}}", "capped.of": "{exponential: {base: 1s}}", "capped.cap": "1m",
}

// least is the least that counts may be which a file writes down.
var least = map[string]int64{
	"limit": 1, "burst": 1, "size": 1, "slots": 1, "slices": 1, "permits": 1, "success": math.MinInt32,
}

// percentages are the whole numbers that are in per cent, and may say so.
var percentages = map[string]bool{
	"percent": true, "slow_percent": true, "target": true, "growth": true, "spread": true, "above": true, "low": true, "high": true,
}

// thousandths are the whole numbers that are in thousandths, so that sums of them
// are exact.
var thousandths = map[string]bool{"ratio": true, "deposit": true}

// bindRate reads a rate into the two fields of a setting.
func (d *decoder) bindRate(n *yaml.Node, what string, f setting) {
	r, ok := d.rate(n)
	switch {
	case !ok:
	case f.key == "limit" && r.scale > 1 && !evenly[what]: // the length would be longer than the file says
		d.complain(n, "%s counts whole requests; write %d/%s if the time may be that long", what, r.count, inFile(r.per))
	case f.to.OverflowInt(r.count):
		d.complain(n, "the rate has too many decimal places for so large a count")
	default:
		f.to.SetInt(r.count)
		f.per.SetInt(int64(r.per))
	}
}

// evenly are the limits to which a rate is all one, whatever time it is over.
var evenly = map[string]bool{"token_bucket": true, "leaky_bucket": true}

// value reads a value of the type of to.
func (d *decoder) value(at, n *yaml.Node, what string, to reflect.Value) {
	t := to.Type()
	if names := words[t]; names != nil {
		if w := d.word(n, what, writable(names)...); w != "" {
			to.SetUint(uint64(slices.Index(names, w)))
		}
		return
	}
	if kinds := choices[t]; kinds != nil {
		if v := d.choose(n, what, kinds()); v.IsValid() {
			to.Set(v)
		}
		return
	}
	if s, ok := spellings[t]; ok {
		s.read(d, n, what, to)
		return
	}
	switch {
	case t.Kind() == reflect.Uint8 && places[what] != "":
		to.SetUint(uint64(d.place(n, places[what])))
		return
	case t == durationType && what == "ahead":
		to.SetInt(int64(d.signed(n)))
		return
	case t == durationType:
		to.SetInt(int64(d.duration(n)))
		return
	case t == distType:
		to.Set(reflect.ValueOf(d.dist(n)))
		return
	}
	switch t.Kind() {
	case reflect.Bool:
		to.SetBool(d.boolean(n))
	case reflect.String:
		s, _ := d.scalar(n, "a text")
		to.SetString(s)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if percentages[what] && n.Kind == yaml.ScalarNode {
			bare := *n
			bare.Value = strings.TrimSuffix(n.Value, "%")
			n = &bare
		}
		if whole, frac, m := decimal(n.Value); thousandths[what] && m == nil && frac != "" && whole < 1_000_000 {
			millis, _ := strconv.ParseUint((frac + "00")[:3], 10, 64)
			d.complain(n, "%s is in thousandths; write %d for %s", what, whole*1000+millis, n.Value)
			return
		}
		to.SetInt(d.integer(n, least[what], int64(1)<<(t.Bits()-1)-1))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		to.SetUint(uint64(d.integer(n, 0, int64(1)<<t.Bits()-1)))
	case reflect.Float64:
		to.SetFloat(d.number(n))
	case reflect.Slice:
		items := d.list(n, what, maxItems)
		list := reflect.MakeSlice(t, len(items), len(items))
		for i, item := range items {
			d.value(item, item, what, list.Index(i))
		}
		to.Set(list)
	case reflect.Array:
		items := d.list(n, what, t.Len())
		if items != nil && len(items) != t.Len() {
			d.complain(n, "expected %d %s, found %d", t.Len(), what, len(items))
			return
		}
		for i, item := range items {
			d.value(item, item, what, to.Index(i))
		}
	case reflect.Struct:
		d.bind(at, n, what, to)
	case reflect.Pointer:
		v := reflect.New(t.Elem())
		d.value(at, n, what, v.Elem())
		to.Set(v)
	default:
		panic(fmt.Sprintf("scenarios: a file cannot write the type %v of %s", t, what))
	}
}

// places are the settings that say where attempts go: by the names of models and
// regions.
var places = map[string]string{"model": "models", "models": "models", "region": "regions", "regions": "regions"}

// maxItems bounds the lists of settings.
const maxItems = 1000

// choose reads one of several kinds of things; the zero Value if it cannot be
// told which.
func (d *decoder) choose(n *yaml.Node, what string, kinds []kind) reflect.Value {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	name, at, body := d.variant(n, what, names...)
	i := slices.Index(names, name)
	if i < 0 {
		return reflect.Value{}
	}
	if kinds[i].prototype == nil { // the choice of nothing
		return reflect.Value{}
	}
	v := kinds[i].fresh()
	switch {
	case v.Kind() == reflect.Struct:
		d.bind(at, body, name, v)
	case body != nil:
		d.value(at, body, name, v)
	}
	return v
}

// fresh is a copy of the prototype to be filled in.
func (k *kind) fresh() reflect.Value {
	v := reflect.New(reflect.TypeOf(k.prototype)).Elem()
	v.Set(reflect.ValueOf(k.prototype))
	return v
}

// signed reads a duration that may be negative.
func (d *decoder) signed(n *yaml.Node) time.Duration {
	if n.Kind == yaml.ScalarNode && strings.HasPrefix(n.Value, "-") {
		positive := *n
		positive.Value = n.Value[1:]
		return -d.duration(&positive)
	}
	return d.duration(n)
}

// number reads a decimal number ≥ 0, such as 0.25, or a percentage.
func (d *decoder) number(n *yaml.Node) float64 {
	s, ok := d.scalar(n, "a number such as 0.25")
	if !ok {
		return 0
	}
	digits, percent := strings.CutSuffix(s, "%")
	whole, _, m := decimal(digits)
	if m != nil || whole > math.MaxUint32 {
		d.complain(n, "expected a number such as 0.25 or 25%%, found %s", quoted(s))
		return 0
	}
	v, _ := strconv.ParseFloat(digits, 64) // plain digits, so it cannot fail
	if percent {
		v /= 100
	}
	return v
}
