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

// founding is the scenario that comes first: the default of comparisons.
const founding = "second-peak"

// Listing is one line about a built-in scenario.
type Listing struct {
	// Name is what Builtin takes; Title is one line, Summary the first
	// paragraph of what the scenario says about itself.
	Name, Title, Summary string
	// Group is what kind it is of.
	Group string
}

// groups are the kinds of built-in scenarios by the prefix of their names, in the
// order in which they are listed.
var groups = []struct{ prefix, title string }{
	{"", "Experiments"},
	{"case-", "Cases from the field"},
	{"claim-", "Claims of the founding articles"},
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

// builtins returns the names of the built-in scenarios, group by group in
// alphabetical order, but the founding one first.
func builtins() []string {
	files, _ := fs.Glob(library, "library/*.yaml") // the pattern is well-formed
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(f, "library/"), ".yaml"))
	}
	slices.SortFunc(names, func(a, b string) int {
		switch founding {
		case a:
			return -1
		case b:
			return 1
		}
		return cmp.Or(cmp.Compare(groupOf(a), groupOf(b)), strings.Compare(a, b))
	})
	return names
}

// Builtin returns the built-in scenario of that name.
func Builtin(name string) (*Scenario, error) {
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
	return Parse(name+".yaml", src)
}

// List returns the built-in scenarios, the founding one first.
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
