package scenarios

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed library/*.yaml
var library embed.FS

//go:embed starter.yaml
var starter string

// first is the scenario that is listed first: the default of comparisons.
const first = "second-peak"

// Listing describes a built-in scenario in a list.
type Listing struct {
	// Name is the argument of Builtin, Title one line, and Summary the first
	// paragraph of the scenario's about.
	Name, Title, Summary string
	// Group is the title of the group that the scenario belongs to.
	Group string
}

// groups are the groups of built-in scenarios by the prefix of their names, in
// the order of the list.
var groups = []struct{ prefix, title string }{
	{"", "Experiments"},
	{"case-", "Failures from public bug reports"},
	{"claim-", "Claims of the reference experiments"},
}

// groupOf returns the number of the group that a name belongs to.
func groupOf(name string) int {
	for i, g := range groups {
		if g.prefix != "" && strings.HasPrefix(name, g.prefix) {
			return i
		}
	}
	return 0
}

// builtins returns the names of the built-in scenarios: first, then group by
// group in alphabetical order.
func builtins() []string {
	files, _ := fs.Glob(library, "library/*.yaml") // the pattern is well-formed
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(f, "library/"), ".yaml"))
	}
	slices.SortFunc(names, func(a, b string) int {
		switch first {
		case a:
			return -1
		case b:
			return 1
		}
		return cmp.Or(cmp.Compare(groupOf(a), groupOf(b)), strings.Compare(a, b))
	})
	return names
}

// Builtin returns the built-in scenario of that name. Its Words have the parts of the
// format.
func (f *Format) Builtin(name string) (*Scenario, error) {
	names := builtins()
	if !slices.Contains(names, name) {
		if meant := Nearest(name, names); meant != "" {
			return nil, fmt.Errorf("there is no built-in scenario %q; did you mean %q?", name, meant)
		}
		return nil, fmt.Errorf("there is no built-in scenario %q; herdlab scenarios lists them", name)
	}
	src, err := library.ReadFile("library/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("built-in scenario %q: %w", name, err)
	}
	return f.Parse(name+".yaml", src)
}

// List returns the built-in scenarios in the order of herdlab scenarios.
func List() []Listing {
	var all []Listing
	for _, name := range builtins() {
		s, err := Builtin(name)
		if err != nil {
			continue // the package's tests parse every one of them
		}
		summary, _, _ := strings.Cut(s.about, "\n\n")
		all = append(all, Listing{s.name, s.title, strings.Join(strings.Fields(summary), " "), groups[groupOf(name)].title})
	}
	return all
}

// Starter returns a commented scenario file to start from. It is itself a
// valid scenario.
func Starter() []byte { return []byte(starter) }
