package scenarios

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/strategies"
	"herdlab/strategies/layers"
)

// allKinds are the built-in kinds of all tables, and of traffic.
func allKinds() map[string][]Kind {
	return map[string][]Kind{"layer": layerKinds, "backoff": backoffKinds, "trip": tripKinds, "limit": limitKinds, "fault": faultKinds, "traffic": trafficKinds()}
}

// allForms are the types whose settings are not those of a kind.
func allForms() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[scenarioForm](), reflect.TypeFor[fleetForm](), reflect.TypeFor[sizeForm](), reflect.TypeFor[shareForm](),
		reflect.TypeFor[lognormalForm](), reflect.TypeFor[providerForm](), reflect.TypeFor[authForm](), reflect.TypeFor[refusalForm](),
		reflect.TypeFor[mockprovider.ModelConfig](), reflect.TypeFor[mockprovider.RegionConfig](), reflect.TypeFor[mockprovider.Capacity](),
		reflect.TypeFor[mockprovider.Service](), reflect.TypeFor[mockprovider.Schedule](), reflect.TypeFor[priceForm](),
		reflect.TypeFor[dialect.CodeInBody](), reflect.TypeFor[dialect.CodeReply](), reflect.TypeFor[when](), reflect.TypeFor[period](),
		reflect.TypeFor[strategyForm](), reflect.TypeFor[expectForm](), reflect.TypeFor[comparisonForm](), reflect.TypeFor[batchForm](),
	}
}

// eachSetting calls f with every setting of every kind and form, those of nested
// structs included; of names what has it.
func eachSetting(f func(of string, s *setting)) {
	seen := map[reflect.Type]bool{}
	var walk func(of string, all []setting)
	walk = func(of string, all []setting) {
		for i := range all {
			f(of, &all[i])
			t := all[i].to.Type()
			for t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Pointer || t.Kind() == reflect.Map {
				t = t.Elem()
			}
			if nested(t) && !seen[t] {
				seen[t] = true
				walk(of+"."+all[i].key, settingsOf(t))
			}
		}
	}
	for name, kinds := range allKinds() {
		for i := range kinds {
			if v := kinds[i].fresh(); v.Kind() == reflect.Struct {
				walk(name+" "+kinds[i].Name, settings(v))
			}
		}
	}
	for _, t := range allForms() {
		walk(t.Name(), settingsOf(t))
	}
}

// Each setting has a meaning, a unit if it is a number of something, and either an
// example, because it is required, or what holds without it.
func TestEverySettingIsDescribed(t *testing.T) {
	n := 0
	eachSetting(func(of string, s *setting) {
		what := of + "." + s.key
		n++
		requireSentence(t, s.about, what)
		kind := s.to.Kind()
		if kind == reflect.Slice {
			kind = s.to.Type().Elem().Kind()
		}
		counts := reflect.Int <= kind && kind <= reflect.Float64
		for _, kinds := range []reflect.Type{s.to.Type(), reflect.New(s.to.Type()).Type().Elem()} {
			_, spelt := spellingOf(kinds)
			counts = counts && enumerated(kinds) == nil && !spelt && kinds != durationType
		}
		if s.to.Kind() == reflect.Slice {
			_, spelt := spellingOf(s.to.Type().Elem())
			counts = counts && !spelt
		}
		if counts && s.names == "" && !s.per.IsValid() && s.key != "cv" {
			require.NotEmpty(t, s.unit, "%s: a number of what?", what)
		}
		if s.required != "" {
			require.Empty(t, s.byDefault+s.without, "%s is required, so nothing holds without it", what)
			return
		}
		require.False(t, s.byDefault != "" && s.without != "", "%s: default and without", what)
		if !nested(s.to.Type()) {
			require.NotEmpty(t, s.fallback(), "%s: what holds without it?", what)
		}
	})
	require.Greater(t, n, 400, "settings")
	for name, kinds := range allKinds() {
		for _, k := range kinds {
			requireSentence(t, k.Summary, name+" "+k.Name)
		}
	}
}

// requireSentence requires one sentence that begins with a capital letter and ends
// with a full stop.
func requireSentence(t *testing.T, text, of string) {
	t.Helper()
	require.NotEmpty(t, text, "%s has no description", of)
	first, _ := utf8.DecodeRuneInString(text)
	require.True(t, unicode.IsUpper(first), "%s: %s", of, text)
	require.True(t, strings.HasSuffix(text, ".") && !strings.HasSuffix(text, ".."), "%s: %s", of, text)
}

// What tags say can be read: an example and a default are values of their setting,
// and bounds bound.
func TestTagsAreValues(t *testing.T) {
	eachSetting(func(of string, s *setting) {
		what := of + "." + s.key
		for _, text := range []string{s.required, s.byDefault} {
			if sp, spelt := spellingOf(s.to.Type()); text == "" || spelt && sp.read == nil || s.to.Kind() == reflect.Map || strings.Contains(of, "Form") && nested(s.to.Type()) || isForm(s.to.Type()) {
				continue
			}
			src := s.key + ": " + text
			d := newDecoder(&builtinFormat, what, []byte(src))
			d.named = map[string][]string{"models": {"flagship", "light"}, "regions": {"eu", "us"}}
			root := d.document([]byte(src))
			to := reflect.New(s.to.Type()).Elem()
			if s.per.IsValid() {
				_, ok := d.rate(root.Content[1])
				require.True(t, ok, "%s: %s", what, text)
				continue
			}
			d.value(root.Content[0], root.Content[1], s, to)
			require.NoError(t, d.err(), "%s: %s", what, text)
		}
		if enumerated(s.to.Type()) != nil {
			names, _ := s.words(enumerated(s.to.Type()))
			require.NotEmpty(t, names, what)
			all := namesOf(enumerated(s.to.Type()))
			for _, word := range append(s.permits, s.excludes...) {
				require.Contains(t, all, word, what)
			}
			require.True(t, len(s.permits) == 0 || len(s.permits) == len(names), what)
		}
	})
	bounds := map[string]string{}
	for _, s := range form[fleetForm]() {
		bounds[s.key] = s.most
	}
	require.Equal(t, fmt.Sprint(sim.MaxClients), bounds["clients"])
}

func isForm(t reflect.Type) bool {
	for t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	_, spelt := spellingOf(t)
	return spelt && t.Kind() == reflect.String || t.Kind() == reflect.Interface && t == reflect.TypeFor[trafficChoice]()
}

// The reference names every kind and every word, in lines that fit.
func TestKeysAreComplete(t *testing.T) {
	text := Keys()
	for i, line := range strings.Split(text, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), keyWidth, "line %d: %s", i+1, line)
		require.Equal(t, strings.TrimRight(line, " "), line)
	}
	for _, kinds := range allKinds() {
		for _, k := range kinds {
			require.True(t, strings.Contains(text, "\n  "+k.Name), k.Name)
		}
	}
	flat := strings.Join(strings.Fields(text), " ")
	eachSetting(func(of string, s *setting) {
		require.True(t, strings.Contains(flat, s.key), "%s.%s", of, s.key)
		if e := enumerated(s.to.Type()); e != nil {
			for _, w := range e.Names() {
				require.True(t, strings.Contains(flat, strings.Join(strings.Fields(w[0]+" "+w[1]), " ")), "%s.%s: %s", of, s.key, w[0])
			}
		}
	})
	for _, part := range []string{
		"open_for How long the breaker stays open before it lets a probe through. (a duration; required, such as 30s)",
		"max_attempts How many attempts a call makes, the first one included. (a whole number: attempts; default 3)",
		"high The largest factor. (a whole percentage, at most 1000; default 100%)",
	} {
		require.True(t, strings.Contains(flat, part), part)
	}
}

// A file can write every field of everything it may choose from: what a kind is
// made of is of types that value reads.
func TestEverySettingCanBeWritten(t *testing.T) {
	for _, kinds := range [][]Kind{limitKinds, faultKinds, layerKinds, backoffKinds, tripKinds} {
		for _, k := range kinds {
			v := k.fresh()
			if v.Kind() != reflect.Struct {
				continue
			}
			for _, s := range settings(v) {
				require.NotPanics(t, func() { requireWritable(t, s.to.Type(), k.Name+"."+s.key) })
			}
		}
	}
	requireWritable(t, reflect.TypeFor[dialect.CodeInBody](), ownDialect)
}

func requireWritable(t *testing.T, of reflect.Type, what string) {
	t.Helper()
	s, spelt := spellingOf(of)
	_, chosen := choices[of]
	switch {
	case enumerated(of) != nil, chosen, of == durationType, of == distType, of == refusalType:
		return
	case spelt:
		require.NotNil(t, s.read, what)
		return
	}
	switch of.Kind() {
	case reflect.Bool, reflect.String, reflect.Float64, reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
	case reflect.Slice, reflect.Array, reflect.Pointer:
		requireWritable(t, of.Elem(), what)
	case reflect.Struct:
		for _, s := range settingsOf(of) {
			requireWritable(t, s.to.Type(), what+"."+s.key)
		}
	default:
		t.Errorf("%s has the type %v, which no file can write", what, of)
	}
}

// Of a fault, the words that a file may write for a setting are those that the
// fault accepts.
func TestPermittedWordsAreAccepted(t *testing.T) {
	for _, k := range faultKinds {
		v := k.fresh()
		for _, s := range settings(v) {
			of := enumerated(s.to.Type())
			if of == nil || k.Name == "spoil" { // whose words depend on each other
				continue
			}
			permitted := map[string]bool{}
			names, _ := s.words(of)
			for _, name := range names {
				permitted[name] = true
			}
			for i, w := range of.Names() {
				if s.to.SetUint(uint64(i)); w[0] == wire.OK.String() {
					continue // the zero value, which stands for the default
				}
				err := v.Interface().(mockprovider.Disturbance).Validate()
				require.Equal(t, permitted[w[0]], err == nil, "%s.%s: %s (%v)", k.Name, s.key, w[0], err)
			}
			s.to.SetZero()
		}
	}
}

// The names that enumerations give to files are those that they give themselves,
// and there is one for each value.
func TestNamesOfEnumerations(t *testing.T) {
	for _, c := range []struct {
		of   enumeration
		n    int
		name func(uint8) string
	}{
		{strategies.Scope(0), strategies.NumScopes, func(i uint8) string { return strategies.Scope(i).String() }},
		{layers.HintUse(0), layers.NumHintUses, func(i uint8) string { return layers.HintUse(i).String() }},
		{layers.Beyond(0), layers.NumBeyonds, func(i uint8) string { return layers.Beyond(i).String() }},
		{layers.MarkUse(0), layers.NumMarkUses, func(i uint8) string { return layers.MarkUse(i).String() }},
		{layers.Replay(0), layers.NumReplays, func(i uint8) string { return layers.Replay(i).String() }},
		{wire.Class(0), wire.NumClasses, func(i uint8) string { return wire.Class(i).String() }},
		{wire.Spelling(0), wire.NumSpellings, nil},
		{wire.Body(0), wire.NumBodies, nil},
	} {
		names := c.of.Names()
		require.Len(t, names, c.n, "%T", c.of)
		for i, w := range names {
			if c.name != nil {
				require.Equal(t, c.name(uint8(i)), w[0], "%T", c.of)
			}
			require.Equal(t, w[0] == "", w[1] == "", "%T %s has no meaning", c.of, w[0])
		}
	}
}

// A duration that may be negative is the only one that may.
func TestBoundsOfDurations(t *testing.T) {
	type bounded struct {
		Signed   time.Duration `least:"-1h"`
		Positive time.Duration `least:"1ns" most:"2h"`
	}
	for text, want := range map[string]string{
		"{signed: -30m}": "", "{signed: -2h}": `"-2h" is too short; expected at least -1h`, "{positive: 0s}": "expected a duration longer than zero",
		"{positive: -1s}": `"-1s" is negative`, "{positive: 3h}": `"3h" is too long; expected at most 2h`, "{positive: 2h}": "",
	} {
		d := newDecoder(&builtinFormat, "x", []byte(text))
		root := d.document([]byte(text))
		var b bounded
		d.bind(root, root, "bounded", reflect.ValueOf(&b).Elem())
		if want == "" {
			require.NoError(t, d.err(), text)
		} else {
			require.ErrorContains(t, d.err(), want, text)
		}
	}
}
