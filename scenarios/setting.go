package scenarios

import (
	"reflect"
	"strings"
	"time"
	"unicode"

	"herdlab/mockprovider"
	"herdlab/sim/draw"
)

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
		if f.Type == refusalType && f.Name == "Refusal" {
			s.key = "reply"
		}
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

// snake writes the name of a field as files do: MaxAttempts is max_attempts,
// and TTL is ttl.
func snake(name string) string {
	if name == "CoDel" { // the field writes it as one word
		return "codel"
	}
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
