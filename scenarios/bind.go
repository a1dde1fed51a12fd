package scenarios

import (
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

// bind reads settings into the exported fields of the structs to. at is where a
// missing setting is reported. Fields that the file does not mention keep their
// values.
func (d *decoder) bind(at, n *yaml.Node, what string, to ...reflect.Value) *section {
	var all []setting
	computed := false
	for _, v := range to {
		all = append(all, settings(v)...)
		computed = computed || computesWait(v.Interface())
	}
	s := d.section(at, n, what, all)
	for i := range all {
		f := &all[i]
		v := s.get(f.key)
		switch {
		case f.to.Type() == refusalType:
			s.refuses(f.key, f.to.Addr().Interface().(*mockprovider.Refusal), computed)
		case v == nil && f.to.Type() == keepType:
			f.to.Set(reflect.ValueOf(d.kept(all)))
		case v == nil:
			if f.required != "" {
				s.need(f.key)
			}
		case f.per.IsValid():
			d.bindRate(v, what, f)
		default:
			d.value(at, v, f, f.to)
		}
	}
	return s
}

// bindRate reads a rate into the two fields of a setting.
func (d *decoder) bindRate(n *yaml.Node, what string, f *setting) {
	r, ok := d.rate(n)
	switch {
	case !ok:
	case f.whole && r.scale > 1: // the time would be longer than the file states
		d.complain(n, "%s counts whole requests; write %d/%s if the time may be that long", what, r.count, inFile(r.per))
	case f.to.OverflowInt(r.count):
		d.complain(n, "the rate has too many decimal places for so large a count")
	default:
		f.to.SetInt(r.count)
		f.per.SetInt(int64(r.per))
	}
}

// value reads a value of the type of to, which is the field of f or a part of it.
func (d *decoder) value(at, n *yaml.Node, f *setting, to reflect.Value) {
	t := to.Type()
	if of := enumerated(t); of != nil {
		names, values := f.words(of)
		if w := d.word(n, f.key, names...); w != "" {
			to.SetUint(values[slices.Index(names, w)])
		}
		return
	}
	if c, ok := choices[t]; ok {
		if v := d.choose(n, f.key, c.kinds(d.format)); v.IsValid() {
			to.Set(v)
		}
		return
	}
	if s, ok := spellingOf(t); ok {
		s.read(d, n, f, to)
		return
	}
	switch {
	case f.names != "" && t.Kind() == reflect.Uint8:
		to.SetUint(uint64(d.place(n, f.names)))
		return
	case t == durationType:
		to.SetInt(int64(d.bounded(n, f)))
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
		if d.countsThousandths(n, f) {
			return
		}
		if f.unit == percent && n.Kind == yaml.ScalarNode {
			bare := *n
			bare.Value = strings.TrimSuffix(n.Value, "%")
			n = &bare
		}
		low, high := f.integers(t)
		to.SetInt(d.integer(n, low, high))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		low, high := f.integers(t)
		to.SetUint(uint64(d.integer(n, low, high)))
	case reflect.Float64:
		to.SetFloat(d.number(n))
	case reflect.Slice:
		items := d.list(n, f.key, maxItems)
		list := reflect.MakeSlice(t, len(items), len(items))
		for i, item := range items {
			d.value(item, item, f, list.Index(i))
		}
		to.Set(list)
	case reflect.Array:
		items := d.list(n, f.key, t.Len())
		if items != nil && len(items) != t.Len() {
			d.complain(n, "expected %d %s, found %d", t.Len(), f.key, len(items))
			return
		}
		for i, item := range items {
			d.value(item, item, f, to.Index(i))
		}
	case reflect.Struct:
		d.bind(at, n, f.key, to)
	case reflect.Pointer:
		v := reflect.New(t.Elem())
		d.value(at, n, f, v.Elem())
		to.Set(v)
	default:
		panic(fmt.Sprintf("scenarios: a file cannot write the type %v of %s", t, f.key))
	}
}

// maxItems bounds the lists of settings.
const maxItems = 1000

// integers returns the bounds of a whole number of type t.
func (s *setting) integers(t reflect.Type) (low, high int64) {
	high = int64(1)<<min(t.Bits(), 63) - 1
	if reflect.Int <= t.Kind() && t.Kind() <= reflect.Int64 {
		high = int64(1)<<(t.Bits()-1) - 1
	}
	return max(s.bound(s.least, 0), -high-1), min(s.bound(s.most, high), high)
}

// bound reads a bound of a tag.
func (s *setting) bound(text string, otherwise int64) int64 {
	if text == "" {
		return otherwise
	}
	v, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("scenarios: the tag of %s has the bound %q", s.key, text))
	}
	return v
}

// durations returns the bounds of a duration.
func (s *setting) durations() (low, high time.Duration) {
	read := func(text string, otherwise time.Duration) time.Duration {
		if text == "" {
			return otherwise
		}
		v, err := time.ParseDuration(text)
		if err != nil {
			panic(fmt.Sprintf("scenarios: the tag of %s has the bound %q", s.key, text))
		}
		return v
	}
	return read(s.least, 0), read(s.most, math.MaxInt64)
}

// bounded reads a duration within the bounds of its setting.
func (d *decoder) bounded(n *yaml.Node, f *setting) time.Duration {
	low, high := f.durations()
	before := d.count()
	var v time.Duration
	if low < 0 && n.Kind == yaml.ScalarNode && strings.HasPrefix(n.Value, "-") {
		positive := *n
		positive.Value = n.Value[1:]
		v = -d.duration(&positive)
	} else {
		v = d.duration(n)
	}
	switch {
	case d.count() > before:
	case v == 0 && low > 0:
		d.complain(n, "expected a duration longer than zero")
	case v < low:
		d.complain(n, "%s is too short; expected at least %s", quoted(n.Value), inFile(low))
	case v > high:
		d.complain(n, "%s is too long; expected at most %s", quoted(n.Value), inFile(high))
	}
	return v
}

// countsThousandths complains of a fraction where a number of thousandths is
// expected, with the number that is meant.
func (d *decoder) countsThousandths(n *yaml.Node, f *setting) bool {
	if f.unit != thousandths {
		return false
	}
	whole, frac, m := decimal(n.Value)
	if m != nil || frac == "" || whole >= 1_000_000 {
		return false
	}
	millis, _ := strconv.ParseUint((frac + "00")[:3], 10, 64)
	d.complain(n, "%s is in thousandths; write %d for %s", f.key, whole*1000+millis, n.Value)
	return true
}

// choose reads one of several kinds of things; the zero Value if the file does not
// name one of them.
func (d *decoder) choose(n *yaml.Node, what string, kinds []Kind) reflect.Value {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].Name
	}
	name, at, body := d.variant(n, what, names...)
	i := slices.Index(names, name)
	if i < 0 || kinds[i].Prototype == nil { // the choice of nothing
		return reflect.Value{}
	}
	v := kinds[i].fresh()
	switch {
	case v.Kind() == reflect.Struct:
		d.bind(at, body, name, v)
	case body != nil:
		d.value(at, body, &setting{key: name}, v)
	}
	return v
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
