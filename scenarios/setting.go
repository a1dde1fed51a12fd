package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"herdlab/mockprovider"
	"herdlab/sim/draw"
)

// setting is one key of a file and the struct field behind it, with what the tags
// of the field state. Kind describes the tags.
type setting struct {
	key string
	to  reflect.Value
	per reflect.Value // of a rate: the field of the time
	of  reflect.Type  // the embedded struct type that has the field, nil if none

	about, unit       string
	required          string // an example, if the file must have the setting
	byDefault         string // the value without the setting
	without           string // what happens without the setting
	least, most       string
	names             string // "models", "regions" or "accounts"
	whole             bool   // of a rate: fractions of a count are refused
	permits, excludes []string
}

// percent and thousandths are units that change how a number is read.
const (
	percent     = "%"
	thousandths = "thousandths"
)

// settings returns what a file may set in a struct. The fields of embedded structs
// count as fields of the struct itself.
func settings(to reflect.Value) []setting {
	var all []setting
	times := map[string]bool{} // fields that are the time of a rate
	t := to.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && !f.Anonymous || f.Tag.Get("key") == "-" {
			continue
		}
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			all = append(all, embedded(f, to.Field(i))...)
			continue
		}
		s := tagged(f)
		s.to = to.Field(i)
		if per, options, _ := strings.Cut(f.Tag.Get("rate"), ","); per != "" {
			if s.per = to.FieldByName(per); !s.per.IsValid() || s.per.Type() != durationType {
				panic(fmt.Sprintf("scenarios: %v has no field %s for the time of the rate %s", t, per, f.Name))
			}
			s.whole = options == "whole"
			times[snake(per)] = true
		}
		all = append(all, s)
	}
	return slices.DeleteFunc(all, func(s setting) bool { return times[s.key] && !s.per.IsValid() })
}

// embedded returns the settings of an embedded struct, with the changes that the
// tags of the field state.
func embedded(f reflect.StructField, to reflect.Value) (all []setting) {
	except := strings.Fields(f.Tag.Get("except"))
	defaults := map[string]string{}
	for _, d := range strings.Fields(f.Tag.Get("defaults")) {
		key, value, _ := strings.Cut(d, ":")
		defaults[key] = value
	}
	for _, s := range settings(to) {
		if slices.Contains(except, s.key) {
			continue
		}
		if d := defaults[s.key]; d != "" {
			s.byDefault = d
		}
		if s.of == nil {
			s.of = f.Type
		}
		all = append(all, s)
	}
	return all
}

// tagged returns the setting that the tags of a field describe.
func tagged(f reflect.StructField) setting {
	s := setting{
		key: snake(f.Name), about: f.Tag.Get("about"), unit: f.Tag.Get("unit"),
		required: f.Tag.Get("required"), byDefault: f.Tag.Get("default"), without: f.Tag.Get("without"),
		least: f.Tag.Get("least"), most: f.Tag.Get("most"), names: f.Tag.Get("names"),
		permits: strings.Fields(f.Tag.Get("only")), excludes: strings.Fields(f.Tag.Get("except")),
	}
	if key := f.Tag.Get("key"); key != "" {
		s.key = key
	}
	return s
}

// keysOf returns the keys of settings. A refusal has several.
func keysOf(all []setting) (keys []string) {
	for i := range all {
		if keys = append(keys, all[i].key); all[i].to.Type() == refusalType {
			keys = append(keys, keysOf(form[refusalForm]())...)
		}
	}
	return keys
}

// form returns the settings of a struct type, without values. A form is a struct
// type of this package that no file is read into: it lists, in the order of files,
// the keys of something that is read key by key.
func form[T any]() []setting { return settings(reflect.New(reflect.TypeFor[T]()).Elem()) }

// settingsOf is the same for a type that is known at run time.
func settingsOf(t reflect.Type) []setting { return settings(reflect.New(t).Elem()) }

// words returns the words that a file may write for a setting of an enumeration
// type, and the value of each.
func (s *setting) words(of enumeration) (names []string, values []uint64) {
	for i, w := range of.Names() {
		name := w[0]
		if name == "" || len(s.permits) > 0 && !slices.Contains(s.permits, name) || slices.Contains(s.excludes, name) {
			continue
		}
		names, values = append(names, name), append(values, uint64(i))
	}
	return names, values
}

// enumeration is implemented by types of which files write words.
type enumeration interface {
	// Names returns the word for each value of the type from 0 up, and its meaning
	// in one sentence. A file cannot write a value whose word is empty.
	Names() [][2]string
}

// enumerated returns the enumeration that a type is, nil if it is not one.
func enumerated(t reflect.Type) enumeration {
	e, _ := reflect.Zero(t).Interface().(enumeration)
	return e
}

// namesOf returns the names of an enumeration all of whose values have one, from 0
// up.
func namesOf(of enumeration) (names []string) {
	for _, w := range of.Names() {
		names = append(names, w[0])
	}
	return names
}

// snake writes the name of a field as files do: MaxAttempts is max_attempts,
// and TTL is ttl.
func snake(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		begins := i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if begins {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	distType     = reflect.TypeFor[draw.Dist]()
	refusalType  = reflect.TypeFor[mockprovider.Refusal]()
	keepType     = reflect.TypeFor[mockprovider.Keep]()
)
