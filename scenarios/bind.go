package scenarios

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v4"

	"herdlab/sim/draw"
)

// kind is one of several things that a file may choose between, each with
// settings of its own: a layer, a backoff, a limit, a fault. Its settings are
// the exported fields of prototype, a struct, under their names in snake case.
type kind struct {
	name      string
	prototype any
}

// bind reads settings into the exported fields of the struct to, which says by
// its types what a file may write. at is where a missing setting is reported.
//
// A count beside a length of time, such as Limit and Length or Rate and Per, is
// one setting, a rate; what an embedded struct has is as if the struct itself
// had it. Fields that the file does not mention stay as they are.
func (d *decoder) bind(at, n *yaml.Node, what string, to reflect.Value) {
	fields := settings(to)
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	s := d.section(at, n, what, keys...)
	for _, f := range fields {
		v := s.get(f.key)
		switch {
		case f.per.IsValid():
			if v = s.need(f.key, "120/min"); v != nil {
				d.bindRate(v, f)
			}
		case v != nil:
			d.value(at, v, f.key, f.to)
		}
	}
}

// setting is one key of a file and the field behind it.
type setting struct {
	key string
	to  reflect.Value
	per reflect.Value // of a rate: the field of the time
}

// rates are which fields make a rate together.
var rates = [...][2]string{{"Rate", "Per"}, {"Limit", "Length"}}

// settings returns what a file may set in a struct.
func settings(to reflect.Value) []setting {
	var all []setting
	t := to.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			all = append(all, settings(to.Field(i))...)
			continue
		}
		s := setting{key: snake(f.Name), to: to.Field(i)}
		for _, r := range rates {
			per, ok := t.FieldByName(r[1])
			ok = ok && len(per.Index) == 1 && per.Type == durationType
			if ok && f.Name == r[0] {
				s.per = to.FieldByIndex(per.Index)
			} else if count, both := t.FieldByName(r[0]); ok && both && len(count.Index) == 1 && f.Name == r[1] {
				s.key = ""
			}
		}
		if s.key != "" {
			all = append(all, s)
		}
	}
	return all
}

// snake writes the name of a field as files do: MaxAttempts is max_attempts.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	distType     = reflect.TypeFor[draw.Dist]()
)

// bindRate reads a rate into the two fields of a setting.
func (d *decoder) bindRate(n *yaml.Node, f setting) {
	r, ok := d.rate(n)
	switch {
	case !ok:
	case f.to.OverflowInt(r.count):
		d.complain(n, "the rate has too many decimal places for so large a count")
	default:
		f.to.SetInt(r.count)
		f.per.SetInt(int64(r.per))
	}
}

// value reads a value of the type of to.
func (d *decoder) value(at, n *yaml.Node, what string, to reflect.Value) {
	t := to.Type()
	if names := words[t]; names != nil {
		if w := d.word(n, what, names...); w != "" {
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
	switch {
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
		to.SetInt(d.integer(n, 0, int64(1)<<(t.Bits()-1)-1))
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
	v := reflect.New(reflect.TypeOf(kinds[i].prototype)).Elem()
	v.Set(reflect.ValueOf(kinds[i].prototype))
	if v.Kind() == reflect.Struct {
		d.bind(at, body, name, v)
	} else if body != nil {
		d.complain(body, "%s has no settings", name)
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
