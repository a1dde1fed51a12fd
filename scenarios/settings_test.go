package scenarios

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/strategies"
	"herdlab/strategies/layers"
)

// samples are values of types that files write in a way of their own.
var samples = map[reflect.Type]string{
	reflect.TypeFor[mockprovider.Counted]():     "[account, model]",
	reflect.TypeFor[mockprovider.Range]():       "1-3",
	reflect.TypeFor[mockprovider.Service]():     "{first_token: 7s, per_output_token: 1ms}",
	reflect.TypeFor[mockprovider.Point]():       "[0.8, 2]",
	reflect.TypeFor[mockprovider.Price]():       "{input: 1, output: 2}",
	reflect.TypeFor[mockprovider.Notice]():      "7s",
	reflect.TypeFor[codeReplies]():              "{rate: 7, auth: {code: 8, status: 401}}",
	reflect.TypeFor[strategies.Classes]():       "[rate, quota]",
	reflect.TypeFor[layers.Statuses]():          "500-503",
	reflect.TypeFor[strategies.Layer]():         "full-jitter",
	reflect.TypeFor[strategies.Backoff]():       "{fixed: {every: 7s}}",
	reflect.TypeFor[layers.Trip]():              "{count_window: {last: 7}}",
	reflect.TypeFor[mockprovider.Limit]():       "{concurrency: {limit: 7}}",
	reflect.TypeFor[mockprovider.Disturbance](): "{errors: {class: rate}}",
	durationType: "7s", distType: "{exponential: 7s}",
}

// sample is a value of a setting, as a file may write it, that is not the one that
// it has.
func sample(has reflect.Value, s *setting) string {
	t := has.Type()
	if of := enumerated(t); of != nil {
		names, values := s.words(of)
		for i := len(names) - 1; i >= 0; i-- {
			if values[i] != has.Uint() {
				return names[i]
			}
		}
	}
	if text, ok := samples[t]; ok {
		return text
	}
	if t.Kind() == reflect.Uint8 && s.names != "" {
		return "second"
	}
	switch t.Kind() {
	case reflect.Bool:
		return fmt.Sprint(!has.Bool())
	case reflect.String:
		return "some-text"
	case reflect.Float64:
		return "0.375"
	case reflect.Slice:
		return "[" + sample(reflect.New(t.Elem()).Elem(), s) + "]"
	case reflect.Array:
		one := sample(reflect.New(t.Elem()).Elem(), s)
		return "[" + strings.Repeat(one+", ", t.Len()-1) + one + "]"
	case reflect.Pointer:
		return sample(reflect.New(t.Elem()).Elem(), s)
	case reflect.Struct:
		var all []string
		for _, s := range settingsOf(t) {
			all = append(all, s.key+": "+sampleOf(&s))
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	return fmt.Sprint(min(97, s.bound(s.most, 97)))
}

func sampleOf(s *setting) string {
	switch {
	case s.per.IsValid():
		return "97/7s"
	case s.to.Type() == refusalType:
		return "503"
	}
	return sample(s.to, s)
}

// Every key of every thing that a file may choose, one at a time, is read into
// its own field, and no other.
func TestEverySettingIsRead(t *testing.T) {
	things := append([]Kind{
		{Name: ownDialect, Prototype: dialect.CodeInBody{}}, {Name: "capacity", Prototype: mockprovider.Capacity{}}, {Name: "when", Prototype: when{}}, {Name: "terms", Prototype: mockprovider.Terms{}}, {Name: "match", Prototype: mockprovider.Match{}},
		{Name: "rules", Prototype: layers.Rules{}}, {Name: "hints", Prototype: layers.Hints{}},
	}, limitKinds...)
	for _, more := range [][]Kind{faultKinds, layerKinds, backoffKinds, tripKinds} {
		things = append(things, more...)
	}
	read := 0
	for _, k := range things {
		plain := k.fresh()
		if plain.Kind() != reflect.Struct {
			continue
		}
		for i, s := range settings(plain) {
			text := s.key + ": " + sampleOf(&s)
			for j, rate := range settings(plain) { // which are required
				if rate.required != "" && i != j {
					text += ", " + rate.key + ": " + sampleOf(&rate)
				}
			}
			text = "{" + text + "}"
			d := newDecoder(&builtinFormat, "x", []byte(text))
			d.named = map[string][]string{"models": {"first", "second"}, "regions": {"first", "second"}}
			got := k.fresh()
			root := d.document([]byte(text))
			d.bind(root, root, "", got)
			require.NoError(t, d.err(), "%s: %s", k.Name, text)
			for j, other := range settings(got) {
				was := settings(plain)[j]
				if i == j {
					require.NotEqual(t, was.to.Interface(), other.to.Interface(), "%s: %s", k.Name, text)
					read++
					continue
				}
				if other.to.Type() != keepType && other.required == "" { // what limits keep is the provider's to say
					require.Equal(t, was.to.Interface(), other.to.Interface(), "%s: %s changes %s", k.Name, text, other.key)
				}
			}
		}
	}
	require.Greater(t, read, 300, "so many settings there are, at least")
}
