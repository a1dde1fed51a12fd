package scenarios

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/strategies/layers"
)

// Keys returns the reference of the format: all keys that a scenario file may
// have and what they take, in lines of at most 80 characters. It is drawn from the
// tables that files are read by.
func Keys() string {
	var k keyList
	k.text(`Times are durations with units: 30s, 50ms, 1m30s; the units are ns, us, ms, s, m, min, h and d. ` +
		`Where "a time" stands it may vary: 2s, {uniform: [0s, 1ms]}, {exponential: 2s}, {lognormal: {mean: 2s, cv: 0.3}} or {sample: [1s, 2s, 9s]}. ` +
		`Rates are counts per time: 120/min, 2.1/s, 20/3s. Numbers are decimals, or percentages: 0.25, 25%. ` +
		`A choice without settings may stand alone: traffic: trace, backoff: fixed.`)
	k.title("A scenario")
	k.keys(0, topKeys, "")
	k.title("A fleet, under fleet or by its name under fleets")
	k.keys(0, fleetKeys, "fleet")
	k.title("Traffic: one of")
	for _, s := range trafficForms {
		k.line(0, s.name, s.takes)
		k.keys(1, s.keys, s.name)
	}
	k.title("The provider")
	k.keys(0, providerKeys, "provider")
	for _, part := range []struct {
		name string
		keys []string
	}{{"auth", authKeys[:2]}, {"model", modelKeys}, {"region", regionKeys}} {
		k.title("Of " + part.name)
		k.keys(0, part.keys, part.name)
	}
	k.title("A dialect of your own that says in the body whether it did, " + ownDialect)
	k.keys(0, fieldKeys(reflect.TypeFor[dialect.CodeInBody]()), ownDialect)
	k.title("Capacity")
	k.settings(0, "", reflect.ValueOf(capacityForm))
	k.title("A refusal, wherever one is described")
	k.keys(0, append([]string{"reply"}, refusalKeys...), "refusal")
	k.title("Limits, in the order in which they are asked: each one of")
	k.kinds(limitKinds)
	k.title("Terms, which most limits have as well")
	k.settings(0, "", reflect.ValueOf(mockprovider.Terms{}))
	k.title("Faults: each one of, with from, to (for ever without it), where and probability")
	k.settings(0, "", reflect.ValueOf(when{}))
	k.kinds(disturbances)
	k.title("Strategies: names (herdlab strategies lists them), or")
	k.keys(0, strategyKeys, "strategy")
	k.title("Layers of a stack, outermost first: names of strategies, or")
	k.kinds(layerKinds)
	k.text("What everyone shares needs a name.")
	k.title("Rules: what a loop retries")
	k.settings(0, "", reflect.ValueOf(layers.Rules{}))
	k.title("Hints: what a loop makes of the waits that it is asked for")
	k.settings(0, "", reflect.ValueOf(layers.Hints{}))
	k.title("Backoffs")
	k.kinds(backoffKinds)
	k.title("When a breaker trips")
	k.kinds(trips)
	k.title("Classes of replies")
	k.text(strings.Join(classWords(), ", ") + "; and the sets " + strings.Join(classSetNames(), ", "))
	k.title("Expectations")
	k.keys(0, expectKeys, "expectation")
	k.line(0, "in is, at_least, at_most", "a number, never, undefined, or a multiple of another figure:")
	k.keys(1, ofKeys, "comparison")
	k.title("Metrics of expectations (f: of a fleet, t: of a part of the run)")
	for _, f := range allMetrics() {
		unit := f.unit
		if f.ofFleet != nil {
			unit += ", f"
		}
		if f.series != nil {
			unit += ", t"
		}
		k.line(0, f.name, unit)
	}
	return k.b.String()
}

// keyWidth is how wide the reference is, keyColumn where what keys take begins.
const (
	keyWidth  = 80
	keyColumn = 26
)

// keyList is the reference in the making.
type keyList struct{ b strings.Builder }

func (k *keyList) title(s string) { fmt.Fprintf(&k.b, "\n%s\n", s) }

// text adds a paragraph.
func (k *keyList) text(s string) { k.wrap("", s, 0) }

// line adds a key and what it takes.
func (k *keyList) line(depth int, key, takes string) {
	head := strings.Repeat("  ", depth+1) + key
	if n := keyColumn - utf8.RuneCountInString(head); n > 0 {
		head += strings.Repeat(" ", n)
	} else {
		head += "  "
	}
	k.wrap(head, takes, keyColumn)
}

// wrap adds head and text in lines that are not too wide; those after the first
// are indented.
func (k *keyList) wrap(head, text string, indent int) {
	at := utf8.RuneCountInString(head)
	line := head
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > keyWidth:
			k.b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, at = strings.Repeat(" ", indent), indent
		default:
			line += " "
			at++
		}
		line += word
		at += n
	}
	k.b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// keys adds keys that are read one by one.
func (k *keyList) keys(depth int, keys []string, of string) {
	for _, key := range keys {
		k.line(depth, key, takesOf(of, key))
	}
}

// kinds adds things to choose from, each with its settings.
func (k *keyList) kinds(all []kind) {
	for _, x := range all {
		v := reflect.ValueOf(x.prototype)
		if v.Kind() != reflect.Struct {
			k.line(0, x.name, takes(v.Type(), x.name))
			continue
		}
		note := ""
		if v.NumField() == 0 {
			note = "without settings"
		}
		if needed[x.name+".to"] != "" {
			note = "needs from and to"
		}
		k.line(0, x.name, note)
		k.settings(1, x.name, v)
	}
}

// settings adds what a file may set in the struct of a kind, as bind reads it.
func (k *keyList) settings(depth int, kind string, of reflect.Value) {
	v := reflect.New(of.Type()).Elem()
	v.Set(of)
	own := settings(v)
	if f := v.FieldByName("Terms"); f.IsValid() { // they are listed by themselves
		terms := fieldKeys(f.Type())
		own = slices.DeleteFunc(own, func(s setting) bool { return slices.Contains(terms, s.key) })
		k.line(depth, "and terms", narrower[kind+".terms"])
	}
	for _, s := range own {
		t := s.to.Type()
		switch {
		case t == refusalType:
			k.line(depth, s.key, "a refusal, and its keys beside this one")
		case listed[t] != "" && depth > 0:
			k.line(depth, s.key, listed[t])
		case s.per.IsValid():
			k.line(depth, s.key, "a rate")
		case nested(t):
			k.line(depth, s.key, "")
			k.settings(depth+1, kind, s.to)
		default:
			text := cmp.Or(narrower[kind+"."+s.key], narrower["."+s.key], takes(t, s.key))
			if words[t] != nil && !s.to.IsZero() {
				text += "; " + words[t][s.to.Uint()] + " without it"
			}
			k.line(depth, s.key, text)
		}
	}
}

// listed are the types that many things have, and that are listed by themselves.
var listed = map[reflect.Type]string{
	reflect.TypeFor[layers.Rules](): "rules",
	reflect.TypeFor[layers.Hints](): "hints",
}

// nested reports whether a setting has settings of its own.
func nested(t reflect.Type) bool {
	_, own := spellings[t]
	return t.Kind() == reflect.Struct && !own && t != distType
}

// takes says what a setting of a type takes, as value reads it.
func takes(t reflect.Type, key string) string {
	if w := words[t]; w != nil {
		if slices.Equal(w, classWords()) {
			return "a class"
		}
		return strings.Join(writable(w), " | ")
	}
	if choices[t] != nil {
		return "a " + strings.ToLower(choiceNames[t])
	}
	if s, ok := spellings[t]; ok {
		return s.takes
	}
	switch {
	case t.Kind() == reflect.Uint8 && places[key] != "":
		return "the name of a " + strings.TrimSuffix(places[key], "s")
	case t == durationType:
		return "a duration"
	case t == distType:
		return "a time"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		inner := t.Elem()
		if nested(inner) {
			return "a list of {" + strings.Join(fieldKeys(inner), ", ") + "}"
		}
		return "a list: " + takes(inner, key)
	case reflect.Pointer:
		if nested(t.Elem()) {
			return "{" + strings.Join(fieldKeys(t.Elem()), ", ") + "}"
		}
		return takes(t.Elem(), key)
	}
	if percentages[key] {
		return "a whole number of per cent"
	}
	if thousandths[key] {
		return "a whole number of thousandths"
	}
	return "a whole number"
}

// fieldKeys are the keys of a struct.
func fieldKeys(t reflect.Type) (keys []string) {
	for _, s := range settings(reflect.New(t).Elem()) {
		keys = append(keys, s.key)
	}
	return keys
}

func dialectNames() (names []string) {
	for _, d := range dialect.All() {
		names = append(names, d.Name)
	}
	return names
}

func classSetNames() (names []string) {
	for _, s := range classSets {
		names = append(names, s.name)
	}
	return names
}

func formNames() (names []string) {
	for _, f := range forms {
		names = append(names, f.name)
	}
	return names
}

func hintNames() (names []string) {
	for _, h := range hints {
		names = append(names, h.name)
	}
	return names
}
