package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
)

// maxProblems bounds how many problems of a file are reported.
const maxProblems = 100

// decoder reads values from the tree of a file and collects all errors. After an
// error its methods return the zero value and reading continues. A nil node is an
// absent value and not an error.
type decoder struct {
	format   *Format
	file     string
	lines    []string
	problems Problems
	named    map[string][]string           // the names of models and regions, by "models" and "regions"
	accounts map[string]mockprovider.Range // the accounts of each fleet, if there are several fleets
	keep     mockprovider.Keep             // the default of limits without keep
	dialect  *dialect.Dialect              // of the provider, nil for the default
	sound    sound                         // the parts that expectations may refer to
	more     int                           // the number of problems beyond maxProblems
}

// sound states which parts of a file were read without an error. References to
// other parts cannot be checked.
type sound struct {
	runs  bool // all but the strategies: the fleets, the bins, the faults
	names bool // the strategies
}

func newDecoder(f *Format, file string, src []byte) *decoder {
	d := &decoder{format: f, file: file, named: map[string][]string{}, accounts: map[string]mockprovider.Range{}}
	if len(src) <= maxBytes { // a larger file is an error as a whole, without lines
		d.lines = strings.Split(strings.TrimPrefix(string(src), "\ufeff"), "\n")
	}
	return d
}

// err returns the collected problems, nil if there are none.
func (d *decoder) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	d.problems.sort()
	if d.more > 0 {
		d.problems = append(d.problems, Problem{File: d.file, Message: fmt.Sprintf("and %d more", d.more)})
	}
	return d.problems
}

// count returns the number of problems so far.
func (d *decoder) count() int { return len(d.problems) + d.more }

func (d *decoder) complainAt(line, column int, format string, args ...any) {
	d.report(line, column, &mistake{message: fmt.Sprintf(format, args...)})
}

func (d *decoder) complain(n *yaml.Node, format string, args ...any) {
	d.report(n.Line, n.Column, &mistake{message: fmt.Sprintf(format, args...)})
}

func (d *decoder) report(line, column int, m *mistake) {
	if len(d.problems) == maxProblems {
		d.more++
		return
	}
	p := Problem{File: d.file, Line: line, Column: column, Message: m.message, Suggestion: m.suggestion}
	if line >= 1 && line <= len(d.lines) {
		p.Source = strings.TrimSuffix(d.lines[line-1], "\r")
	}
	d.problems = append(d.problems, p)
}

// section is a mapping with a fixed set of keys.
type section struct {
	*decoder
	name     string
	at       *yaml.Node
	values   map[string]*yaml.Node
	examples map[string]string // of the keys that it must have
	meant    map[string]bool   // keys that were suggested for misspelt ones
	broken   bool              // it is not a mapping, so missing keys are not reported
}

// section reads a mapping that may have the keys of the given settings. at is where
// a missing key is reported; n may be nil for a mapping without keys.
func (d *decoder) section(at, n *yaml.Node, name string, of []setting) *section {
	s := d.mapping(at, n, name, keysOf(of))
	for i := range of {
		if of[i].required != "" {
			s.examples[of[i].key] = of[i].required
		}
	}
	return s
}

// mapping reads a mapping that may have the given keys, none of which it needs.
func (d *decoder) mapping(at, n *yaml.Node, name string, keys []string) *section {
	s := &section{decoder: d, name: name, at: at, values: map[string]*yaml.Node{}, meant: map[string]bool{}, examples: map[string]string{}}
	if n == nil {
		return s
	}
	if n.Kind != yaml.MappingNode {
		d.complain(n, "expected a mapping for %s, found %s; %s", name, found(n), keysAre(keys))
		s.broken = true
		return s
	}
	seen := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			d.complain(key, "a key of %s must be a word, found %s", name, found(key))
			continue
		}
		if line, ok := seen[key.Value]; ok {
			d.complain(key, "duplicate key %s in %s; it is already on line %d", quoted(key.Value), name, line)
			continue
		}
		seen[key.Value] = key.Line
		if slices.Contains(keys, key.Value) {
			s.values[key.Value] = value
			continue
		}
		m := mistaken("unknown key %s in %s", quoted(key.Value), name)
		if m.suggestion = Nearest(key.Value, keys); m.suggestion == "" {
			m.message += "; " + keysAre(keys)
		}
		s.meant[m.suggestion] = true
		d.report(key.Line, key.Column, m)
	}
	return s
}

func keysAre(keys []string) string {
	if len(keys) == 0 {
		return "it has no keys"
	}
	return "the keys are " + strings.Join(keys, ", ")
}

// get returns the value of a key, nil if it is absent.
func (s *section) get(key string) *yaml.Node { return s.values[key] }

// need returns the value of a required setting and complains if it is absent.
func (s *section) need(key string) *yaml.Node { return s.needs(key, s.examples[key]) }

// needs is the same of a setting that is required here, with an example.
func (s *section) needs(key, example string) *yaml.Node {
	n := s.values[key]
	if n == nil && !s.broken && !s.meant[key] {
		s.complain(s.at, "%s needs the key %s, such as %s: %s", s.name, key, key, example)
	}
	return n
}

// variant reads one of several alternatives with their settings: a mapping of one
// key, {closed: {think: 1s}}, or the key alone. body is nil without settings, or if
// the alternative is invalid.
func (d *decoder) variant(n *yaml.Node, what string, names ...string) (name string, at, body *yaml.Node) {
	switch {
	case n == nil:
		return "", nil, nil
	case n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[0].Kind == yaml.ScalarNode:
		if at, body = n.Content[0], n.Content[1]; body.Tag == "!!null" {
			body = nil
		}
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		at = n
	default:
		d.complain(n, "expected one %s (%s), found %s", what, strings.Join(names, ", "), found(n))
		return "", nil, nil
	}
	if !d.oneOf(at, what, names) {
		return "", nil, nil
	}
	return at.Value, at, body
}

// oneOf reports whether a scalar is one of the names, and adds a problem if not.
func (d *decoder) oneOf(n *yaml.Node, what string, names []string) bool {
	if slices.Contains(names, n.Value) {
		return true
	}
	m := mistaken("unknown %s %s", what, quoted(n.Value))
	if m.suggestion = Nearest(n.Value, names); m.suggestion == "" {
		m.message += "; expected one of " + strings.Join(names, ", ")
	}
	d.report(n.Line, n.Column, m)
	return false
}

// found describes a node for messages.
func found(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return fmt.Sprintf("a mapping of %d keys", len(n.Content)/2)
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	default:
		return quoted(n.Value)
	}
}

// quoted and short shorten a text of the file for a message.
func quoted(s string) string { return strconv.Quote(short(s)) }

func short(s string) string {
	const most = 40
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}
