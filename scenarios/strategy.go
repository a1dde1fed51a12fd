package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/presets"
)

// Choice is one strategy that a scenario compares.
type Choice struct {
	// Name is unique in the scenario; Summary is one line.
	Name, Summary string
}

// choice is a strategy as a file states it.
type choice struct {
	Choice
	define func(presets.Knowledge) strategies.Definition
	reader wire.Reader // nil for the strategy's own
	at     *yaml.Node  // the place of errors

	programs []*strategies.Program    // of each fleet
	commons  *strategies.SharedMemory // the memory that the programs share
}

// maxStrategies bounds the strategies of a scenario.
const maxStrategies = 100

// strategies reads the list of strategies: names, or mappings of a name and a
// reader.
func (d *decoder) strategies(n *yaml.Node) []choice {
	items := d.list(n, "strategies", maxStrategies)
	if n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		d.complain(n, "no strategies; expected a list such as [naive, full-jitter]")
	}
	seen := map[string]int{}
	var all []choice
	for _, item := range items {
		c, ok := d.strategy(item)
		if !ok {
			continue
		}
		if line, ok := seen[c.Name]; ok {
			d.complain(item, "duplicate strategy %s; it is already in line %d", c.Name, line)
			continue
		}
		seen[c.Name] = item.Line
		all = append(all, c)
	}
	return all
}

// strategyForm lists the keys of a strategy.
type strategyForm struct {
	Name    string        `required:"full-jitter" about:"The name of a built-in strategy or, with a stack, of your own."`
	Summary string        `without:"a sentence of herdlab's" about:"One line on your own strategy; only with a stack."`
	Reader  readerUse     `without:"as the strategy does" about:"What clients see of replies."`
	Stack   []layerChoice `without:"it is the built-in strategy of that name" about:"Your own strategy: layers, the outermost first."`
}

func (d *decoder) strategy(n *yaml.Node) (choice, bool) {
	c := choice{at: n}
	nameNode, reader := n, reader{}
	if n.Kind == yaml.MappingNode {
		s := d.section(n, n, "strategy", form[strategyForm]())
		nameNode = s.need("name")
		if at := s.get("reader"); at != nil {
			reader = readers[d.enumerated(at, "reader", readerUse(0))]
		}
		if stack := s.get("stack"); stack != nil {
			return d.stack(s, stack, nameNode, reader)
		}
		if at := s.get("summary"); at != nil {
			d.complain(at, "only a strategy with a stack may have a summary; add the stack, or remove the summary")
		}
	}
	name, ok := d.scalar(nameNode, "the name of a strategy, or a mapping with its name, reader and stack")
	if !ok {
		return c, false
	}
	known, ok := d.known(nameNode, name)
	if !ok {
		return c, false
	}
	c.Choice, c.define = Choice{known.Name, known.Summary}, known.Define
	if c.reader = reader.reader; c.reader != nil {
		c.Name, c.Summary = c.Name+"-by-"+reader.name, c.Summary+"; "+reader.sees
	}
	return c, true
}

// reader is a way for clients to read replies, and its word in files.
type reader struct {
	name   string
	reader wire.Reader
	sees   string
}

// readers are all of them.
var readers = []reader{
	{"status", wire.ByStatus{}, "reads only the HTTP status"},
	{"body", wire.ByBody{}, "reads the whole reply"},
	{"keyword", wire.ByKeyword{}, "searches the text for keywords"},
	{"library", wire.ByLibrary{}, "reads as SDKs do"},
}

// readerUse is the place of a reader among them.
type readerUse uint8

// Names returns the name of each reader, as files spell it, and its meaning.
func (readerUse) Names() (names [][2]string) {
	for _, r := range readers {
		names = append(names, [2]string{r.name, r.sees})
	}
	return names
}

// maxLayers bounds the items of a stack.
const maxLayers = 16

// stack reads a strategy that the file defines: layers, outermost first, each with
// its settings, or names of strategies, which stand for their layers.
func (d *decoder) stack(s *section, n, nameNode *yaml.Node, reader reader) (choice, bool) {
	c := choice{at: n, reader: reader.reader}
	before := d.count()
	c.Name = d.name(nameNode)
	c.Summary = "a stack of this scenario's own"
	if at := s.get("summary"); at != nil {
		c.Summary = d.title(at)
	}
	var parts []func(presets.Knowledge) []strategies.Layer
	for _, item := range d.list(n, "layers", maxLayers) {
		if item.Kind == yaml.ScalarNode && !slices.ContainsFunc(d.format.allLayers(), func(k Kind) bool { return k.Name == item.Value }) {
			if known, ok := d.known(item, item.Value); ok {
				parts = append(parts, func(k presets.Knowledge) []strategies.Layer { return known.Define(k).Layers })
			}
			continue
		}
		if v := d.choose(item, "layer", d.format.allLayers()); v.IsValid() {
			layer := v.Interface().(strategies.Layer)
			parts = append(parts, func(presets.Knowledge) []strategies.Layer { return []strategies.Layer{layer} })
		}
	}
	c.define = func(k presets.Knowledge) (def strategies.Definition) {
		for _, part := range parts {
			def.Layers = append(def.Layers, part(k)...)
		}
		return def
	}
	return c, d.count() == before
}

// known returns the built-in strategy with that name and reports an error if
// there is none.
func (d *decoder) known(at *yaml.Node, name string) (presets.Builtin, bool) {
	all := d.format.Strategies()
	i := slices.IndexFunc(all, func(b presets.Builtin) bool { return b.Name == name })
	if i < 0 {
		d.unknownStrategy(at, all)
		return presets.Builtin{}, false
	}
	return all[i], true
}

// unknownStrategy reports a name that is not in the table.
func (d *decoder) unknownStrategy(n *yaml.Node, all []presets.Builtin) {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	m := mistaken("unknown strategy %s", quoted(n.Value))
	if m.suggestion = Nearest(n.Value, names); m.suggestion == "" {
		m.message += "; herdlab strategies lists them"
	}
	d.report(n.Line, n.Column, m)
}

// compile builds the programs of the fleets for the capacity k: the choice's, and
// those of fleets with their own strategy. at is the place of the error.
func (c *choice) compile(k presets.Knowledge, fleets []fleet) (at *yaml.Node, err error) {
	c.commons = strategies.NewSharedMemory()
	c.programs = make([]*strategies.Program, len(fleets))
	program, err := c.program(k, c.commons)
	if err != nil {
		return c.at, err
	}
	for i := range fleets {
		if own := fleets[i].fixed; own == nil {
			c.programs[i] = program
		} else if c.programs[i], err = own.program(k, c.commons); err != nil {
			return own.at, err
		}
	}
	return c.at, nil
}

// program builds the program of a choice.
func (c *choice) program(k presets.Knowledge, commons *strategies.SharedMemory) (*strategies.Program, error) {
	return strategies.Compile(c.definition(k), commons)
}

// definition returns the choice's stack for the capacity k.
func (c *choice) definition(k presets.Knowledge) strategies.Definition {
	def := c.define(k)
	def.Name, def.Summary = c.Name, c.Summary
	if c.reader != nil {
		def.Reader = c.reader
	}
	return def
}

// Definition returns the strategy of that name as the scenario compares it, built
// for the capacity of its provider. It is the Strategy of a live.Config. If it
// routes, Models and Regions are the names of its numbered targets. The error for
// an unknown name suggests one or lists all.
func (s *Scenario) Definition(name string) (strategies.Definition, error) {
	names := make([]string, len(s.choices))
	for i := range s.choices {
		if names[i] = s.choices[i].Name; names[i] == name {
			return s.choices[i].definition(knowledge(s.bound)), nil
		}
	}
	if meant := Nearest(name, names); meant != "" {
		return strategies.Definition{}, fmt.Errorf("scenario %s: there is no strategy %q; did you mean %q?", s.name, name, meant)
	}
	return strategies.Definition{}, fmt.Errorf("scenario %s: there is no strategy %q; its strategies are %s", s.name, name, strings.Join(names, ", "))
}
