package scenarios

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/strategies/layers"
)

// The reference says of every key what it takes, of none that there is not, and
// fits on a page.
func TestKeysAreComplete(t *testing.T) {
	used := map[string]bool{}
	for of, keys := range map[string][]string{
		"": topKeys, "fleet": fleetKeys, "one_shot": oneShotKeys, "closed": closedKeys, "open": openKeys, "bursts": batchKeys, "periodic": periodicKeys,
		"provider": providerKeys, "auth": authKeys[:2], "model": modelKeys, "region": regionKeys,
		"refusal": append([]string{"reply"}, refusalKeys...), "strategy": strategyKeys, ownDialect: fieldKeys(reflect.TypeFor[dialect.CodeInBody]()), "expectation": expectKeys, "comparison": ofKeys,
	} {
		for _, key := range keys {
			require.NotEmpty(t, takesOf(of, key), "%s.%s", of, key)
			used[of+"."+key] = true
		}
	}
	for key := range takesBy {
		require.True(t, used[key], "%s is no key", key)
	}
	require.Len(t, trafficForms, len(sources))
	for i, s := range sources {
		require.Equal(t, s.name, trafficForms[i].name)
	}
	text := Keys()
	for i, line := range strings.Split(text, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), keyWidth, "line %d: %s", i+1, line)
		require.Equal(t, strings.TrimRight(line, " "), line)
	}
	for _, all := range [][]kind{limitKinds, disturbances, layerKinds, backoffKinds, trips} {
		for _, k := range all {
			require.Contains(t, text, "\n  "+k.name, k.name)
		}
	}
}

// A file can write every field of everything it may choose from: what a kind is
// made of is of types that value reads.
func TestEverySettingCanBeWritten(t *testing.T) {
	for _, all := range [][]kind{limitKinds, disturbances, layerKinds, backoffKinds, trips} {
		for _, k := range all {
			v := k.fresh()
			if v.Kind() != reflect.Struct {
				continue
			}
			for _, s := range settings(v) {
				require.NotPanics(t, func() { requireWritable(t, s.to.Type(), k.name+"."+s.key) })
			}
		}
	}
	requireWritable(t, reflect.TypeFor[dialect.CodeInBody](), ownDialect)
}

// The reference lists the words that a file may write, and no others: those of
// the type of a setting that its kind refuses are not there.
func TestKeysListWhatIsRead(t *testing.T) {
	for _, k := range disturbances {
		v := k.fresh()
		for _, s := range settings(v) {
			if words[s.to.Type()] == nil || k.name == "spoil" { // whose words depend on each other
				continue
			}
			listed := cmp.Or(narrower[k.name+"."+s.key], takes(s.to.Type(), s.key))
			for i, word := range words[s.to.Type()] {
				s.to.SetUint(uint64(i))
				err := v.Interface().(mockprovider.Disturbance).Validate()
				switch of := words[s.to.Type()]; {
				case slices.Equal(of, classWords()) && i == 0: // which stands for none
				case strings.Contains(listed, "a class of replies"):
					require.Equal(t, wire.Class(i) <= wire.Timeout, err == nil, "%s.%s: %s", k.name, s.key, word)
				case listed != "a class":
					require.Equal(t, strings.Contains(listed, word), err == nil, "%s.%s: %s (%v)", k.name, s.key, word, err)
				}
			}
			s.to.SetZero()
		}
	}
	for what := range narrower {
		of, key, _ := strings.Cut(what, ".")
		found := of == ""
		for _, all := range [][]kind{limitKinds, disturbances, layerKinds} {
			for _, k := range all {
				found = found || k.name == of && (key == "terms" || slices.Contains(fieldKeys(reflect.TypeOf(k.prototype)), key))
			}
		}
		require.True(t, found, "%s is no setting", what)
	}
}

func requireWritable(t *testing.T, of reflect.Type, what string) {
	t.Helper()
	_, spelt := spellings[of]
	switch {
	case words[of] != nil, choices[of] != nil, spelt, of == durationType, of == distType, of == refusalType:
		return
	}
	switch of.Kind() {
	case reflect.Bool, reflect.String, reflect.Float64, reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
	case reflect.Slice, reflect.Array, reflect.Pointer:
		requireWritable(t, of.Elem(), what)
	case reflect.Struct:
		for _, s := range settings(reflect.New(of).Elem()) {
			requireWritable(t, s.to.Type(), what+"."+s.key)
		}
	default:
		t.Errorf("%s has the type %v, which no file can write", what, of)
	}
}

// The words of enumerations are those that the strategies use themselves.
func TestWordsOfStrategies(t *testing.T) {
	for name, c := range map[string]struct {
		words []string
		name  func(uint8) string
		n     int
	}{
		"hints":  {words[reflect.TypeFor[layers.HintUse]()], func(i uint8) string { return layers.HintUse(i).String() }, layers.NumHintUses},
		"beyond": {words[reflect.TypeFor[layers.Beyond]()], func(i uint8) string { return layers.Beyond(i).String() }, layers.NumBeyonds},
		"marks":  {words[reflect.TypeFor[layers.MarkUse]()], func(i uint8) string { return layers.MarkUse(i).String() }, layers.NumMarkUses},
		"replay": {words[reflect.TypeFor[layers.Replay]()], func(i uint8) string { return layers.Replay(i).String() }, layers.NumReplays},
	} {
		var want []string
		for i := range c.n {
			want = append(want, c.name(uint8(i)))
		}
		require.True(t, slices.Equal(want, c.words), "%s: %v, not %v", name, c.words, want)
	}
}
