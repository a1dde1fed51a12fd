package herdlab

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// floors are the rooms of the house. An arrow only points down, and rooms on
// one floor do not know each other; what stands on a kernel is one floor above it.
var floors = map[string]int{
	"mockprovider/wire":         0, // cellar: what travels
	"sim/draw":                  0, // cellar: who owns which luck
	"sim/saturating":            0, // cellar: sums that do not overflow
	"sim/metrics/format":        0, // cellar: values as text
	"sim/des":                   1, // ground: events in time order
	"sim/traffic":               1, // ground: when calls arrive
	"sim/metrics":               1, // ground: what is counted
	"strategies":                1, // ground: what a client does next
	"mockprovider":              1, // ground: what a provider answers
	"mockprovider/dialect":      1, // ground: how replies and requests look on the wire
	"mockprovider/providertest": 1, // ground: what tests of providers share
	"strategies/strategytest":   2, // on its kernel: drivers for tests
	"strategies/layers":         2, // on its kernel: every layer
	"strategies/backoffs":       2, // on its kernel: every schedule of waits
	"strategies/presets":        3, // on both: clients of the field
	"mockprovider/limits":       2, // on its kernel: every kind of limit
	"mockprovider/faults":       2, // on its kernel: every kind of fault
	"sim":                       4, // floor 1: one experiment
	"mockprovider/serve":        4, // floor 1: the provider as a server
	"strategies/live":           4, // floor 1: the strategies as a transport
	"sim/verdict":               4, // floor 1: what is concluded
	"sim/sweep":                 5, // floor 2: many experiments
	"scenarios":                 6, // floor 3: a file in, experiments out
	"plots":                     6, // floor 3: results in, figures out
	"cmd/cli":                   7, // roof: one file per verb
	"cmd/notices":               7, // the licences of what the binary links
	"cmd/herdlab":               8, // the binary

	"sim/verdict/verdicttest": 5, // for tests: results that are made up
	"sim/simtest":             5, // for tests: experiments in one line
	"sim/validation":          6, // only tests: the simulator beside theory
}

// pure is the highest floor that has no clocks, goroutines or network, and
// that knows no library but gonum.
const pure = 3

// live are the rooms below sim's ceiling where time passes by itself: the same
// provider, or the same strategies, in the world.
var live = []string{"mockprovider/serve", "strategies/live"}

// forTests are the rooms that only tests may know; they may know what tests know.
var forTests = []string{"strategies/strategytest", "mockprovider/providertest", "sim/verdict/verdicttest", "sim/simtest"}

// clocks is what a pure package may not call in package time.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// forbidden anywhere outside tests: one shared random source, and rooms named
// for nothing.
var (
	forbiddenImports = []string{"math/rand", "math/rand/v2"}
	emptyNames       = []string{"util", "utils", "common", "helpers", "types", "misc"}
)

// inspect returns what is wrong with one file of the room called room.
func inspect(room string, fset *token.FileSet, f *ast.File) (broken []string) {
	say := func(at token.Pos, format string, args ...any) {
		broken = append(broken, fmt.Sprintf("%s: %s", fset.Position(at), fmt.Sprintf(format, args...)))
	}
	floor, known := floors[room]
	if !known {
		say(f.Package, "package %s stands on no floor: give it one in house_test.go", room)
		return broken
	}
	timeless := floor <= floors["sim"] && !slices.Contains(live, room)
	if slices.Contains(emptyNames, f.Name.Name) {
		say(f.Name.Pos(), "the name %s says nothing", f.Name.Name)
	}
	clock := "time" // what the file calls that package
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if spec.Name != nil && spec.Name.Name == "." {
			say(spec.Pos(), "no dot imports: a name must say where it comes from")
		}
		if spec.Name != nil && path == "time" {
			clock = spec.Name.Name
		}
		inside, own := strings.CutPrefix(path, "herdlab/")
		switch {
		case own && slices.Contains(forTests, inside):
			say(spec.Pos(), "%s is for tests only", inside)
		case own:
			if below, ok := floors[inside]; !ok || below >= floor {
				say(spec.Pos(), "%s may not know %s: arrows only point down", room, inside)
			}
		case slices.Contains(forbiddenImports, path):
			say(spec.Pos(), "%s: draws belong to somebody; use sim/draw", path)
		case floor <= pure && !slices.Contains(forTests, room):
			first, _, _ := strings.Cut(path, "/")
			if strings.Contains(first, ".") && !strings.HasPrefix(path, "gonum.org/") {
				say(spec.Pos(), "%s may know the standard library and gonum only, not %s", room, path)
			}
			if path == "sync" || path == "net" || path == "context" || strings.HasPrefix(path, "net/http") || strings.HasPrefix(path, "sync/") {
				say(spec.Pos(), "%s is pure: no %s here", room, path)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				say(n.Pos(), "no init: name things in one literal table")
			}
		case *ast.GoStmt:
			if timeless {
				say(n.Pos(), "no goroutines in %s: it would be neither fast nor deterministic", room)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == clock && timeless && slices.Contains(clocks, n.Sel.Name) {
				say(n.Pos(), "no clock in %s: time is an argument", room)
			}
		}
		return true
	})
	return broken
}

func TestArrowsOnlyPointDown(t *testing.T) {
	rooms := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); path != "." && (err == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir // another module, or no code of ours
			}
			return nil
		}
		room := filepath.ToSlash(filepath.Dir(path))
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || room == "." {
			return nil
		}
		rooms[room] = true
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, b := range inspect(room, fset, f) {
			t.Error(b)
		}
		return nil
	})
	require.NoError(t, err)
	for room := range floors {
		require.True(t, rooms[room], "the plan has a room %s that the house has not", room)
	}
}

// The guard itself must bite: each of these breaks one rule.
func TestTheGuardOfTheHouseBites(t *testing.T) {
	for name, c := range map[string]struct{ room, src, want string }{
		"up":         {"sim/des", `package des; import _ "herdlab/sim"`, "arrows only point down"},
		"sideways":   {"scenarios", `package scenarios; import _ "herdlab/plots"`, "arrows only point down"},
		"next door":  {"mockprovider/serve", `package serve; import _ "herdlab/sim"`, "arrows only point down"},
		"own floor":  {"strategies", `package strategies; import _ "herdlab/mockprovider"`, "arrows only point down"},
		"nowhere":    {"sim/fleet", `package fleet`, "stands on no floor"},
		"clock":      {"strategies", `package strategies; import "time"; var x = time.Now`, "no clock"},
		"sleep":      {"sim", `package sim; import "time"; func f() { time.Sleep(1) }`, "no clock"},
		"alias":      {"sim", `package sim; import clock "time"; func f() { clock.Now() }`, "no clock"},
		"dot":        {"sim", `package sim; import . "time"; var d Duration`, "no dot imports"},
		"goroutine":  {"sim", `package sim; func f() { go f() }`, "no goroutines"},
		"network":    {"mockprovider", `package mockprovider; import _ "net/http"`, "is pure"},
		"lock":       {"sim/metrics", `package metrics; import _ "sync"`, "is pure"},
		"library":    {"sim/traffic", `package traffic; import _ "github.com/spf13/cobra"`, "standard library and gonum only"},
		"tests only": {"sim", `package sim; import _ "herdlab/strategies/strategytest"`, "for tests only"},
		"kernel":     {"strategies", `package strategies; import _ "herdlab/strategies/layers"`, "arrows only point down"},
		"luck":       {"cmd/herdlab", `package main; import _ "math/rand/v2"`, "draws belong to somebody"},
		"init":       {"plots", `package plots; func init() {}`, "no init"},
		"empty name": {"plots", `package util`, "says nothing"},
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name+".go", c.src, parser.SkipObjectResolution)
		require.NoError(t, err, name)
		require.Contains(t, strings.Join(inspect(c.room, fset, f), "\n"), c.want, name)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "fine.go", `package sim; import ("time"; _ "herdlab/sim/des"); var x time.Duration`, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Empty(t, inspect("sim", fset, f))
	f, err = parser.ParseFile(fset, "live.go", `package serve; import ("time"; _ "net/http"); func f() { go f(); time.Sleep(1) }`, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Empty(t, inspect("mockprovider/serve", fset, f))
}
