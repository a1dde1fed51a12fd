package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/strategies/layers"
)

// Keys returns the reference of the format with the parts of this module: all keys
// that a scenario file may have, what each means and takes, and what holds without
// it, in lines of at most 80 characters. It comes from the tables that files are
// read by.
func Keys() string { return builtinFormat.Keys() }

// Keys is the function Keys with the parts of the format.
func (f *Format) Keys() string {
	k := keyList{words: map[reflect.Type][]string{}, common: map[string]bool{}}
	for _, s := range common(f.allLayers()) {
		k.common[s.key+s.about] = true
	}
	k.text(`Durations have units: 30s, 50ms, 1m30s; the units are ns, us, ms, s, m, min, h and d. ` +
		`Where "a time" is written it may vary: 2s, {uniform: [0s, 1ms]}, {exponential: 2s}, {lognormal: {mean: 2s, cv: 0.3}} or {sample: [1s, 2s, 9s]}. ` +
		`Rates are counts per time: 120/min, 2.1/s, 20/3s. Numbers are decimals, or percentages: 0.25, 25%. ` +
		`A choice without settings may be its name alone: traffic: trace, backoff: fixed.`)
	k.title("A scenario")
	k.settings(0, form[scenarioForm]())
	k.title("A fleet, under fleet or by its name under fleets")
	k.settings(0, form[fleetForm]())
	k.title("Sizes of calls, under tokens")
	k.settings(0, form[shareForm]())
	k.title("Traffic: one of")
	k.kinds(trafficKinds())
	k.title("The provider")
	k.settings(0, form[providerForm]())
	k.title("Authentication, under auth")
	k.settings(0, form[authForm]())
	k.title("A model")
	k.settings(0, form[mockprovider.ModelConfig]())
	k.title("A region")
	k.settings(0, form[mockprovider.RegionConfig]())
	k.title("Capacity")
	k.settings(0, form[mockprovider.Capacity]())
	k.title("A refusal: its form under reply or full, and beside that")
	k.text("Forms: " + strings.Join(refusalNames(), ", ") + ".")
	k.settings(0, form[refusalForm]())
	k.title("Dialects: names, or one of your own")
	k.text(strings.Join(f.dialectNames(), ", "))
	k.title("A dialect of your own with the verdict in the body, " + ownDialect)
	k.settings(0, form[dialect.CodeInBody]())
	k.title("A reply of that dialect, by class under replies")
	k.settings(0, form[dialect.CodeReply]())
	k.title("Limits: each one of")
	k.kinds(f.allLimits())
	k.title("Terms, which most limits have besides")
	k.settings(0, form[mockprovider.Terms]())
	k.title("A match: which requests, by what they have in common")
	k.settings(0, form[mockprovider.Match]())
	k.title("Faults: each one of these, with")
	k.settings(0, form[when]())
	k.kinds(f.allFaults())
	k.title("Strategies: names (herdlab strategies lists them), or")
	k.settings(0, form[strategyForm]())
	k.title("Layers of a stack: names of strategies, or")
	k.kinds(f.allLayers())
	k.title("Settings that many layers have")
	for _, s := range common(f.allLayers()) {
		k.line(0, s.key, s.about)
	}
	k.title("Rules: what a loop retries, under on")
	k.settings(0, form[layers.Rules]())
	k.title("Hints: what a loop makes of the waits that replies ask for, under hints")
	k.settings(0, form[layers.Hints]())
	k.title("Backoffs")
	k.kinds(f.allBackoffs())
	k.title("Trips: when a breaker opens, in place of failures")
	k.kinds(f.allTrips())
	k.title("Sets of classes, wherever classes are listed")
	k.text(strings.Join(classSetNames(), ", "))
	k.title("Expectations")
	k.settings(0, form[expectForm]())
	k.title("A bound that is a multiple of another value")
	k.settings(0, form[comparisonForm]())
	k.used(reflect.TypeFor[wire.Class](), "classes")
	k.meanings()
	k.title("Metrics of expectations (f: also of one fleet; t: also of a part of the run)")
	for _, x := range allMetrics() {
		unit := x.unit
		if x.ofFleet != nil {
			unit += ", f"
		}
		if x.series != nil {
			unit += ", t"
		}
		k.line(0, x.name, x.about+" ("+unit+")")
	}
	return k.b.String()
}

// keyWidth is how wide the reference is, keyColumn where the text on keys begins.
const (
	keyWidth  = 80
	keyColumn = 26
)

// keyList is the reference in the making.
type keyList struct {
	b      strings.Builder
	order  []reflect.Type            // the enumerations that have been mentioned
	words  map[reflect.Type][]string // the keys under which each has been
	common map[string]bool           // the settings, by key and meaning, that are explained once
}

func (k *keyList) title(s string) { fmt.Fprintf(&k.b, "\n%s\n", s) }

// text adds a paragraph.
func (k *keyList) text(s string) { k.wrap("", s, 0) }

// line adds a key and the text on it.
func (k *keyList) line(depth int, key, text string) {
	head := strings.Repeat("  ", depth+1) + key
	if n := keyColumn - utf8.RuneCountInString(head); n > 1 {
		head += strings.Repeat(" ", n)
	} else {
		head += "  "
	}
	k.wrap(head, text, keyColumn)
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

// kinds adds things to choose from, each with its settings.
func (k *keyList) kinds(all []Kind) {
	for i := range all {
		x := &all[i]
		if x.Group != "" {
			fmt.Fprintf(&k.b, "\n  %s\n", x.Group)
		}
		k.line(0, x.Name, x.Summary)
		v := x.fresh()
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct {
			v = reflect.New(v.Type().Elem()).Elem()
		}
		if v.Kind() == reflect.Struct {
			k.embedded(v.Type())
			k.settings(1, settings(v))
		}
	}
}

// many is how many layers have a setting that is explained once for all of them.
const many = 8

// common returns the settings that many kinds have with the same meaning.
func common(kinds []Kind) (all []setting) {
	count := map[string]int{}
	for i := range kinds {
		if v := kinds[i].fresh(); v.Kind() == reflect.Struct {
			for _, s := range settings(v) {
				if count[s.key+s.about]++; count[s.key+s.about] == many {
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// apart are the types that many kinds have in common and whose settings are listed
// by themselves, by the type.
var apart = map[reflect.Type]string{
	reflect.TypeFor[mockprovider.Terms](): "terms",
	reflect.TypeFor[layers.Rules]():       "rules",
	reflect.TypeFor[layers.Hints]():       "hints",
	reflect.TypeFor[mockprovider.Match](): "a match",
}

// embedded mentions an embedded type that is listed by itself.
func (k *keyList) embedded(t reflect.Type) {
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && apart[f.Type] != "" {
			text := ""
			if except := f.Tag.Get("except"); except != "" {
				text = "but not " + except
			}
			k.line(1, "and "+apart[f.Type], text)
		}
	}
}

// settings adds settings.
func (k *keyList) settings(depth int, of []setting) {
	for i := range of {
		s := &of[i]
		t := s.to.Type()
		if depth > 0 && k.common[s.key+s.about] {
			s.about = ""
		}
		if depth > 0 && s.of != nil && apart[s.of] != "" {
			continue
		}
		if enumerated(t) != nil {
			k.used(t, s.key)
		}
		k.line(depth, s.key, s.describe())
		if nested(t) && (depth > 0 || !titled(t)) && apart[t] == "" {
			k.settings(depth+1, settings(s.to))
		}
	}
}

// titled reports whether the settings of a type have a title of their own.
func titled(t reflect.Type) bool {
	return slices.Contains([]reflect.Type{
		reflect.TypeFor[fleetForm](), reflect.TypeFor[providerForm](), reflect.TypeFor[authForm](), reflect.TypeFor[mockprovider.Capacity](),
	}, t)
}

// used notes that a setting of a type is listed.
func (k *keyList) used(t reflect.Type, key string) {
	if k.words[t] == nil {
		k.order = append(k.order, t)
	}
	if !slices.Contains(k.words[t], key) {
		k.words[t] = append(k.words[t], key)
	}
}

// meanings adds the words of the enumerations that have been mentioned.
func (k *keyList) meanings() {
	for _, t := range k.order {
		title := strings.Join(k.words[t], ", ")
		if name := snake(t.Name()); !slices.Contains(k.words[t], name) && !strings.HasSuffix(name, "_use") {
			title += " (" + strings.ReplaceAll(name, "_", " ") + ")"
		}
		k.title("Words of " + title)
		for _, w := range enumerated(t).Names() {
			if w[0] != "" {
				k.line(0, w[0], w[1])
			}
		}
	}
}

// nested reports whether a setting has settings of its own.
func nested(t reflect.Type) bool {
	_, own := spellingOf(t)
	return t.Kind() == reflect.Struct && !own && t != distType
}

// describe says what a setting means and takes, and what holds without it.
func (s *setting) describe() string {
	var parts []string
	if !nested(s.to.Type()) || apart[s.to.Type()] != "" {
		parts = append(parts, s.takes())
	}
	if fallback := s.fallback(); fallback != "" {
		parts = append(parts, fallback)
	}
	switch {
	case len(parts) == 0:
		return s.about
	case s.about == "":
		return strings.Join(parts, "; ")
	}
	return strings.TrimSpace(s.about + " (" + strings.Join(parts, "; ") + ")")
}

// fallback says what holds without a setting.
func (s *setting) fallback() string {
	switch usual := s.usual(); {
	case s.required != "":
		return "required, such as " + s.required
	case usual != "":
		return "default " + usual
	case s.without != "":
		return "without it, " + s.without
	}
	return ""
}

// usual returns the value of a setting that a file leaves out, as files write it;
// empty if no value says it.
func (s *setting) usual() string {
	t := s.to.Type()
	switch of := enumerated(t); {
	case s.byDefault != "":
		return s.byDefault
	case s.without != "" || s.required != "":
		return ""
	case of != nil:
		return of.Names()[s.to.Uint()][0]
	case t == refusalType:
		return refusalForms[0].name
	case t.Kind() == reflect.Bool:
		return fmt.Sprint(s.to.Bool())
	case s.to.CanInt() && !s.to.IsZero() && s.unit == percent:
		return fmt.Sprintf("%d%%", s.to.Int())
	case s.to.CanInt() && !s.to.IsZero():
		return fmt.Sprint(s.to.Interface())
	}
	return ""
}

// takes says what a file writes for a setting.
func (s *setting) takes() string {
	if s.per.IsValid() {
		return "a rate"
	}
	return s.takesType(s.to.Type())
}

// manyWords is how many words are too many to list them with each key.
const manyWords = 7

func (s *setting) takesType(t reflect.Type) string {
	if of := enumerated(t); of != nil {
		names, _ := s.words(of)
		if len(names) > manyWords {
			text := "a " + snake(t.Name())
			if len(s.excludes) > 0 {
				text += ", but not " + strings.Join(s.excludes, ", ")
			}
			return text
		}
		return listed(names)
	}
	if c, ok := choices[t]; ok {
		return "a " + c.name
	}
	if x, ok := spellingOf(t); ok {
		return x.takes
	}
	switch {
	case s.names != "" && t.Kind() != reflect.Slice:
		return "the name of a " + strings.TrimSuffix(s.names, "s")
	case t == durationType:
		return "a duration"
	case t == distType:
		return "a time"
	case apart[t] != "":
		return apart[t]
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Float64:
		if s.unit != "" {
			return "a number: " + s.unit
		}
		return "a number"
	case reflect.Map:
		return "by name"
	case reflect.Slice, reflect.Array:
		inner := t.Elem()
		if nested(inner) {
			return "a list of {" + strings.Join(keysOf(settingsOf(inner)), ", ") + "}"
		}
		return "a list: " + s.takesType(inner)
	case reflect.Pointer:
		if nested(t.Elem()) {
			return "{" + strings.Join(keysOf(settingsOf(t.Elem())), ", ") + "}"
		}
		return s.takesType(t.Elem())
	}
	text := "a whole number"
	switch s.unit {
	case "":
	case percent:
		text = "a whole percentage"
	default:
		text += ": " + s.unit
	}
	switch low := s.bound(s.least, 0); {
	case s.most != "" && low == 0:
		text += ", at most " + s.most
	case s.most != "":
		text += fmt.Sprintf(", %d to %s", low, s.most)
	case low > 1:
		text += fmt.Sprintf(", at least %d", low)
	}
	return text
}
