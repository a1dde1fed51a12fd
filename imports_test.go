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

// levels are the packages of the module by level. A package imports packages of lower
// levels only; packages for the kinds of a kernel are one level above it.
var levels = map[string]int{
	"mockprovider/wire":         0, // requests, replies, outcomes
	"sim/draw":                  0, // random draws, each with an owner
	"sim/saturating":            0, // sums that do not overflow
	"sim/metrics/format":        0, // values as text
	"sim/des":                   1, // events in time order
	"sim/traffic":               1, // when calls arrive
	"sim/metrics":               1, // what is counted
	"strategies":                1, // what a client does next
	"mockprovider":              1, // what a provider answers
	"mockprovider/dialect":      1, // how replies and requests look on the wire
	"mockprovider/providertest": 1, // what tests of providers share
	"strategies/strategytest":   2, // drivers for tests
	"strategies/layers":         2, // every layer
	"strategies/backoffs":       2, // every schedule of waits
	"strategies/presets":        3, // clients of the field
	"mockprovider/limits":       2, // every kind of limit
	"mockprovider/faults":       2, // every kind of fault
	"sim":                       4, // one experiment
	"mockprovider/serve":        4, // the provider as a server
	"strategies/live":           4, // the strategies as a transport
	"sim/verdict":               2, // what is concluded
	"sim/sweep":                 5, // many experiments
	"scenarios":                 6, // a file in, experiments out
	"plots":                     6, // results in, figures out
	"cmd/cli":                   7, // the command line, one file per verb
	"cmd/notices":               7, // the licences of what the binary links
	"cmd/herdlab":               8, // the binary

	"sim/verdict/verdicttest": 5, // for tests: results that are made up
	"sim/simtest":             5, // for tests: experiments in one line
	"sim/validation":          6, // only tests: the simulator beside theory
}

// pure is the highest level that has no clocks, goroutines or network, and
// that knows no library but gonum.
const pure = 3

// live are the packages of the level of sim that use real clocks and goroutines: the
// same provider, or the same strategies, outside the simulator.
var live = []string{"mockprovider/serve", "strategies/live"}

// forTests are the packages that only tests may import; they may import what tests
// may.
var forTests = []string{"strategies/strategytest", "mockprovider/providertest", "sim/verdict/verdicttest", "sim/simtest"}

// clocks is what a pure package may not call in package time.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// Forbidden anywhere outside tests: one shared random source, and package names
// without a meaning.
var (
	forbiddenImports = []string{"math/rand", "math/rand/v2"}
	emptyNames       = []string{"util", "utils", "common", "helpers", "types", "misc"}
)

// inspect returns the broken rules of one file of the package in a directory.
func inspect(dir string, fset *token.FileSet, f *ast.File) (broken []string) {
	say := func(at token.Pos, format string, args ...any) {
		broken = append(broken, fmt.Sprintf("%s: %s", fset.Position(at), fmt.Sprintf(format, args...)))
	}
	level, known := levels[dir]
	if !known {
		say(f.Package, "package %s has no level; give it one in imports_test.go", dir)
		return broken
	}
	timeless := level <= levels["sim"] && !slices.Contains(live, dir)
	if slices.Contains(emptyNames, f.Name.Name) {
		say(f.Name.Pos(), "the name %s has no meaning", f.Name.Name)
	}
	clock := "time" // what the file calls that package
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if spec.Name != nil && spec.Name.Name == "." {
			say(spec.Pos(), "no dot imports: every name shows its package")
		}
		if spec.Name != nil && path == "time" {
			clock = spec.Name.Name
		}
		inside, own := strings.CutPrefix(path, "herdlab/")
		switch {
		case own && slices.Contains(forTests, inside):
			say(spec.Pos(), "%s is for tests only", inside)
		case own:
			if below, ok := levels[inside]; !ok || below >= level {
				say(spec.Pos(), "%s may not import %s: a package imports lower levels only", dir, inside)
			}
		case slices.Contains(forbiddenImports, path):
			say(spec.Pos(), "%s: every draw has an owner; use sim/draw", path)
		case level <= pure && !slices.Contains(forTests, dir):
			first, _, _ := strings.Cut(path, "/")
			if strings.Contains(first, ".") && !strings.HasPrefix(path, "gonum.org/") {
				say(spec.Pos(), "%s may import the standard library and gonum only, not %s", dir, path)
			}
			if path == "sync" || path == "net" || path == "context" || strings.HasPrefix(path, "net/http") || strings.HasPrefix(path, "sync/") {
				say(spec.Pos(), "%s is pure: no %s here", dir, path)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				say(n.Pos(), "no init: list things in one literal table")
			}
		case *ast.GoStmt:
			if timeless {
				say(n.Pos(), "no goroutines in %s: it would be neither fast nor deterministic", dir)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == clock && timeless && slices.Contains(clocks, n.Sel.Name) {
				say(n.Pos(), "no clock in %s: time is an argument", dir)
			}
		}
		return true
	})
	return broken
}

func TestPackagesImportLowerLevelsOnly(t *testing.T) {
	dirs := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); path != "." && (err == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir // another module, or no Go code
			}
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || dir == "." {
			return nil
		}
		dirs[dir] = true
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, b := range inspect(dir, fset, f) {
			t.Error(b)
		}
		return nil
	})
	require.NoError(t, err)
	for dir := range levels {
		require.True(t, dirs[dir], "levels has %s, which does not exist", dir)
	}
}

// The check itself must fail: each of these breaks one rule.
func TestImportRulesAreChecked(t *testing.T) {
	for name, c := range map[string]struct{ dir, src, want string }{
		"up":         {"sim/des", `package des; import _ "herdlab/sim"`, "a package imports lower levels only"},
		"sideways":   {"scenarios", `package scenarios; import _ "herdlab/plots"`, "a package imports lower levels only"},
		"same level": {"mockprovider/serve", `package serve; import _ "herdlab/sim"`, "a package imports lower levels only"},
		"own level":  {"strategies", `package strategies; import _ "herdlab/mockprovider"`, "a package imports lower levels only"},
		"unknown":    {"sim/fleet", `package fleet`, "has no level"},
		"clock":      {"strategies", `package strategies; import "time"; var x = time.Now`, "no clock"},
		"sleep":      {"sim", `package sim; import "time"; func f() { time.Sleep(1) }`, "no clock"},
		"alias":      {"sim", `package sim; import clock "time"; func f() { clock.Now() }`, "no clock"},
		"dot":        {"sim", `package sim; import . "time"; var d Duration`, "no dot imports"},
		"goroutine":  {"sim", `package sim; func f() { go f() }`, "no goroutines"},
		"network":    {"mockprovider", `package mockprovider; import _ "net/http"`, "is pure"},
		"lock":       {"sim/metrics", `package metrics; import _ "sync"`, "is pure"},
		"library":    {"sim/traffic", `package traffic; import _ "github.com/spf13/cobra"`, "standard library and gonum only"},
		"tests only": {"sim", `package sim; import _ "herdlab/strategies/strategytest"`, "for tests only"},
		"kernel":     {"strategies", `package strategies; import _ "herdlab/strategies/layers"`, "a package imports lower levels only"},
		"random":     {"cmd/herdlab", `package main; import _ "math/rand/v2"`, "every draw has an owner"},
		"init":       {"plots", `package plots; func init() {}`, "no init"},
		"empty name": {"plots", `package util`, "has no meaning"},
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name+".go", c.src, parser.SkipObjectResolution)
		require.NoError(t, err, name)
		require.Contains(t, strings.Join(inspect(c.dir, fset, f), "\n"), c.want, name)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "fine.go", `package sim; import ("time"; _ "herdlab/sim/des"); var x time.Duration`, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Empty(t, inspect("sim", fset, f))
	f, err = parser.ParseFile(fset, "live.go", `package serve; import ("time"; _ "net/http"); func f() { go f(); time.Sleep(1) }`, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Empty(t, inspect("mockprovider/serve", fset, f))
}
