package layers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// exported are the exported types that have a method of that name, in the Go
// files of a folder.
func exported(t *testing.T, folder, method string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != method {
				continue
			}
			of := f.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if of, ok := of.(*ast.Ident); ok && of.IsExported() {
				names = append(names, of.Name)
			}
		}
	}
	slices.Sort(names)
	require.NotEmpty(t, names, "no type in %s has a %s", folder, method)
	return names
}

// trips are the trips of breakers.
func trips(t *testing.T) []string {
	return slices.DeleteFunc(exported(t, ".", "Note"), func(name string) bool {
		return !slices.Contains(exported(t, ".", "Words"), name)
	})
}

// byName goes through a table in the order of its names.
func byName[V any](table map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			if !yield(name, table[name]) {
				return
			}
		}
	}
}

// typeName is what x is called in Go.
func typeName(x any) string { return reflect.TypeOf(x).Name() }

// ofKind are the layers of ours that have a property, by name. Properties are
// found out and not declared, so that a new layer is of all the kinds that it is.
func ofKind(t *testing.T, is func(*testing.T, strategies.Layer) bool) []string {
	t.Helper()
	all := map[string]bool{}
	for _, l := range everyLayer() {
		all[typeName(l)] = all[typeName(l)] || is(t, l)
	}
	maps.DeleteFunc(all, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(all))
}

// theSame is a layer that makes all calls ask the same.
func theSame() strategies.Layer {
	return strategytest.Asking{Demand: wire.Demand{Prompt: 7, InputTokens: 100, OutputTokens: 100}}
}

// failures are all classes but success and what nobody has waited for.
func failures() (all []wire.Class) {
	for c := range wire.Class(wire.NumClasses) {
		if strategies.AnyFailure.Has(c) {
			all = append(all, c)
		}
	}
	return all
}

func anyLayer(*testing.T, strategies.Layer) bool { return true }

// goesAgain reports whether the layer, by itself, makes more than one attempt of
// a call that fails in some way.
func goesAgain(t *testing.T, layer strategies.Layer) bool {
	return slices.ContainsFunc(failures(), func(class wire.Class) bool {
		l := strategytest.NewLab(t, theSame(), layer)
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			if len(l.Sent) > 1 {
				return strategies.Never, strategytest.Answered
			}
			return 100 * time.Millisecond, strategytest.Refused(class)
		}
		l.Begin("a", 0)
		l.Run(time.Hour)
		return len(l.Sent) > 1
	})
}

// standsInLine reports whether the layer has calls wait for each other.
func standsInLine(t *testing.T, layer strategies.Layer) bool {
	p := program(t, layer)
	return len(p.Pools)+len(p.Flights) > 0
}

// sharesMemory reports whether calls leave anything behind for those after them.
func sharesMemory(t *testing.T, layer strategies.Layer) bool {
	p := program(t, layer)
	return p.Words[strategies.PerClient]+p.Words[strategies.PerFleet]+p.Words[strategies.PerEveryone]+len(p.Flights) > 0
}

func program(t *testing.T, layers ...strategies.Layer) *strategies.Program {
	t.Helper()
	p, err := strategies.Compile(strategies.Definition{Name: "x", Layers: layers}, nil)
	require.NoError(t, err)
	return p
}

// hearsHints reports whether it matters to the layer how long a refusal asks to
// wait: to the call that was refused or to one after it.
func hearsHints(t *testing.T, layer strategies.Layer) bool {
	return slices.ContainsFunc(failures(), func(class wire.Class) bool {
		sent := func(hint time.Duration) []time.Duration {
			l := strategytest.NewLab(t, theSame(), layer)
			l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
				if len(l.Sent) > 6 {
					return time.Millisecond, strategytest.Answered
				}
				o := strategytest.Refused(class)
				o.RetryAfter, o.Limit = hint, 10
				return 100 * time.Millisecond, o
			}
			l.Begin("a", 0)
			l.At(time.Second, func() { l.Begin("b", 0) })
			l.Run(time.Hour)
			return l.Sent
		}
		return !slices.Equal(sent(wire.NoHint), sent(30*time.Minute))
	})
}

// movesCalls reports whether the layer delays a call that nothing is in the way
// of.
func movesCalls(t *testing.T, layer strategies.Layer) bool {
	l := strategytest.NewLab(t, theSame(), layer)
	l.Begin("a", 0)
	l.Run(time.Hour)
	return len(l.Sent) == 1 && l.Sent[0] > 0
}

// knowsPriorities reports whether less urgent calls fare worse, once there have
// been refusals.
func knowsPriorities(t *testing.T, layer strategies.Layer) bool {
	v := reflect.New(reflect.TypeOf(layer)).Elem()
	v.Set(reflect.ValueOf(layer))
	if p := v.FieldByName("Priority"); p.IsValid() {
		p.SetUint(1)
		layer = v.Interface().(strategies.Layer)
	}
	sent := func(priority uint8) []time.Duration {
		l := strategytest.NewLab(t, strategytest.Asking{Demand: wire.Demand{Priority: priority}}, layer)
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			return time.Millisecond, strategytest.Refused(wire.Overloaded)
		}
		for i := range 20 {
			l.At(time.Duration(i)*10*time.Millisecond, func() { l.Begin("a", i) })
		}
		l.Run(time.Minute)
		return l.Sent
	}
	return !slices.Equal(sent(0), sent(3))
}

// bounds reports whether the layer keeps a loop from going on.
func boundsRetries(t *testing.T, layer strategies.Layer) bool {
	l := strategytest.NewLab(t, theSame(), layer, layers.Retry{Backoff: backoffs.Fixed{Every: time.Millisecond}})
	l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
		return 0, strategytest.Refused(wire.Overloaded)
	}
	bounded := false
	l.Settled = func(_ *strategytest.Caller, d strategies.Decision) {
		bounded = bounded || d.End.Reason == strategies.BudgetSpent
	}
	for i := range 50 {
		l.Begin("a", i)
	}
	l.Run(100 * time.Millisecond)
	return bounded
}

// There is a specimen of each layer: what holds for all of them holds for all
// there are.
func TestThereIsASpecimenOfEachLayer(t *testing.T) {
	known := ofKind(t, anyLayer)
	for _, name := range exported(t, ".", "Build") {
		require.Contains(t, known, name, "it is new: add one to variety or to protections")
	}
}
