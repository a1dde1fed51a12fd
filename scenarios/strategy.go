package scenarios

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Choice is one strategy that a scenario compares.
type Choice struct {
	// Name is unique in the scenario; Summary is one line.
	Name, Summary string
}

// choice is a strategy as a file asks for it.
type choice struct {
	Choice
	define func(strategies.Knowledge) strategies.Definition
	reader wire.Reader // nil for the strategy's own
	at     *yaml.Node

	program *strategies.Program
	commons *strategies.Commons // what the program was compiled with
}

// strategies reads the list of strategies: names, or mappings of a name and a
// reader.
func (d *decoder) strategies(n *yaml.Node) []choice {
	items := d.list(n, "strategies", 100)
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

func (d *decoder) strategy(n *yaml.Node) (choice, bool) {
	c := choice{at: n}
	nameNode, reader := n, ""
	if n.Kind == yaml.MappingNode {
		s := d.section(n, n, "strategy", "name", "reader")
		nameNode = s.need("name", "full-jitter")
		reader = d.word(s.get("reader"), "reader", "status", "body")
	}
	name, ok := d.scalar(nameNode, "the name of a strategy, or a mapping with its name and reader")
	if !ok {
		return c, false
	}
	all := strategies.Builtins()
	i := slices.IndexFunc(all, func(b strategies.Builtin) bool { return b.Name == name })
	if i < 0 {
		d.unknownStrategy(nameNode, all)
		return c, false
	}
	c.Choice, c.define = Choice{all[i].Name, all[i].Summary}, all[i].Define
	switch reader {
	case "status":
		c.reader = wire.ByStatus{}
		c.Name, c.Summary = c.Name+"-by-status", c.Summary+"; reads only the HTTP status"
	case "body":
		c.reader = wire.ByBody{}
		c.Name, c.Summary = c.Name+"-by-body", c.Summary+"; reads the whole reply"
	}
	return c, true
}

// unknownStrategy complains of a name that is not in the table.
func (d *decoder) unknownStrategy(n *yaml.Node, all []strategies.Builtin) {
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

// compile builds the program of a choice for clients that know k.
func (c *choice) compile(k strategies.Knowledge) (err error) {
	def := c.define(k)
	def.Name, def.Summary = c.Name, c.Summary
	if c.reader != nil {
		def.Reader = c.reader
	}
	c.commons = strategies.NewCommons()
	c.program, err = strategies.Compile(def, c.commons)
	return err
}
