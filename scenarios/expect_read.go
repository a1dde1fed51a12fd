package scenarios

import (
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"herdlab/sim/metrics"
)

// Bounds on the work of checking a scenario.
const (
	maxExpects    = 1000      // expectations
	maxCheckSeeds = 10_000    // seeds of one expectation
	maxValues     = 5_000_000 // expectations × strategies × seeds
)

// expectations reads the scenario's expectations. Each has a metric and its bound.
// An expectation without a strategy holds for every strategy, one with several for
// each of them.
func (d *decoder) expectations(n *yaml.Node, s *Scenario) {
	known := allMetrics()
	values := 0
	for _, item := range d.list(n, "expectations", maxExpects) {
		before := d.count()
		x := d.section(item, item, "expectation", form[expectForm]())
		e := expectation{line: item.Line, seeds: 1, left: term{fleet: -1}}
		names := d.compared(x.get("strategy"), s)
		e.left.metric = d.metric(x.need("metric"), known)
		d.ofFleet(x.get("fleet"), s, &e.left)
		d.part(x, s, &e.left)
		if at := x.get("seeds"); at != nil {
			e.seeds = int(d.integer(at, 1, maxCheckSeeds))
		}
		e.over = over(d.enumerated(x.get("on"), "on", eachSeed))
		e.wants = d.wants(x, s, known, &e.left)
		if values += e.seeds * len(names); values > maxValues && d.count() == before {
			d.complain(item, "the expectations up to this line need more than %d values (strategies × seeds); reduce seeds", maxValues)
			return
		}
		if d.count() > before {
			continue
		}
		for _, i := range names {
			one := e
			one.left.strategy = i
			for _, b := range []*bound{&one.wants.low, &one.wants.high} {
				if b.of != nil { // each strategy gets a copy, measure identifies terms by address
					own := *b.of
					b.of = &own
				}
			}
			s.expects = append(s.expects, one)
		}
	}
	if n != nil && s.replaying() >= 0 {
		d.complain(n, "a scenario that replays a trace cannot have expectations, because its results depend on the trace; remove expect")
	}
}

// compared reads one or several names of compared strategies and returns their
// indexes; without a name, those of all.
func (d *decoder) compared(n *yaml.Node, s *Scenario) (all []int) {
	if n == nil {
		for i := range s.choices {
			all = append(all, i)
		}
		return all
	}
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = d.list(n, "strategies", maxStrategies)
	}
	for _, item := range items {
		if i := d.comparedOne(item, s); i >= 0 {
			all = append(all, i)
		}
	}
	return all
}

// comparedOne reads the name of a compared strategy and returns its index, -1 if
// there is no such strategy.
func (d *decoder) comparedOne(n *yaml.Node, s *Scenario) int {
	names := make([]string, len(s.choices))
	for i := range s.choices {
		names[i] = s.choices[i].Name
	}
	name, ok := d.scalar(n, "the name of a strategy of this scenario")
	if !ok || !d.sound.names || !d.oneOf(n, "strategy", names) {
		return -1
	}
	return slices.Index(names, name)
}

// metric reads the name of a metric.
func (d *decoder) metric(n *yaml.Node, known []metric) metric {
	names := make([]string, len(known))
	for i := range known {
		names[i] = known[i].name
	}
	name, ok := d.scalar(n, "a metric such as attempts")
	if !ok || slices.Contains(names, name) {
		return known[max(0, slices.Index(names, name))]
	}
	m := mistaken("unknown metric %s", quoted(name))
	if m.suggestion = Nearest(name, names); m.suggestion == "" {
		m.message += "; herdlab scenarios --keys lists them"
	}
	d.report(n.Line, n.Column, m)
	return known[0]
}

// ofFleet reads the fleet that a metric is limited to.
func (d *decoder) ofFleet(n *yaml.Node, s *Scenario, t *term) {
	if n == nil || !d.sound.runs {
		return
	}
	names := make([]string, len(s.fleets))
	for i := range s.fleets {
		names[i] = s.fleets[i].name
	}
	switch w := d.word(n, "fleet", names...); {
	case w == "":
	case len(names) < 2:
		d.complain(n, "the scenario has only one fleet; remove this key")
	case t.metric.ofFleet == nil:
		d.complain(n, "%s is not counted by fleet; the metrics by fleet are %s", t.metric.name, strings.Join(namesWith(func(m *metric) bool { return m.ofFleet != nil }), ", "))
	default:
		t.fleet = slices.Index(names, w)
	}
}

// part reads the part of the run that a metric is limited to.
func (d *decoder) part(x *section, s *Scenario, t *term) {
	from, to := x.get("from"), x.get("to")
	if from == nil && to == nil {
		return
	}
	at := from
	if at == nil {
		at = to
	}
	t.from, t.to = d.duration(from), s.horizon
	if to != nil {
		t.to = d.duration(to)
	}
	if !d.sound.runs {
		return
	}
	_, end := s.provider.FaultSpan()
	aligned := func(at time.Duration) bool { return s.bin <= 0 || (at-end)%s.bin == 0 }
	switch {
	case t.metric.series == nil:
		d.complain(at, "%s is not counted in bins, so from and to do not apply; the metrics in bins are %s", t.metric.name, strings.Join(namesWith(func(m *metric) bool { return m.series != nil }), ", "))
	case t.fleet >= 0:
		d.complain(at, "no metric has both a fleet and a part of the run; remove fleet, or from and to")
	case t.to <= t.from:
		d.complain(at, "the part from %s to %s is empty", inFile(t.from), inFile(t.to))
	case !aligned(t.from) || to != nil && !aligned(t.to):
		d.complain(at, "from and to must be on the edges of bins of %s, which are aligned to the end of the last fault", inFile(s.bin))
	}
}

// namesWith returns the names of the metrics that have a property.
func namesWith(has func(*metric) bool) (names []string) {
	for _, m := range allMetrics() {
		if has(&m) {
			names = append(names, m.name)
		}
	}
	return names
}

// wants reads the bounds of a value: is, with a tolerance, at_least, at_most, or
// between.
func (d *decoder) wants(x *section, s *Scenario, known []metric, left *term) (w wants) {
	is, least, most, two := x.get("is"), x.get("at_least"), x.get("at_most"), x.get("between")
	n := 0
	for _, at := range []*yaml.Node{is, least, most, two} {
		if at != nil {
			n++
		}
	}
	within := x.get("within")
	switch {
	case n == 0 && !x.broken:
		d.complain(x.at, "the expectation has no bound; add is, at_least, at_most or between")
		return w
	case n > 1 && !(n == 2 && least != nil && most != nil):
		d.complain(x.at, "the expectation has several bounds; keep one of is, at_least, at_most and between, or at_least with at_most")
		return w
	case within != nil && is == nil:
		d.complain(within, "within is the tolerance of is, which is not here; add is or remove within")
		return w
	}
	bound := func(at *yaml.Node) bound { return d.bound(at, s, known, left) }
	switch {
	case is != nil:
		w.exactly, w.low, w.text = true, bound(is), d.text(is)
		if within != nil {
			w.within = d.number(within)
			w.relative = strings.HasSuffix(within.Value, "%")
			w.text += " ± " + within.Value
		}
	case two != nil:
		ends := d.list(two, "two numbers", 2)
		if len(ends) != 2 {
			if ends != nil {
				d.complain(two, "expected two numbers, such as [120, 122]")
			}
			return w
		}
		w.low, w.high, w.text = bound(ends[0]), bound(ends[1]), d.text(ends[0])+" to "+d.text(ends[1])
	default:
		if least != nil {
			w.low, w.text = bound(least), "≥ "+d.text(least)
		}
		if most != nil {
			w.high, w.text = bound(most), strings.TrimSpace(w.text+" ≤ "+d.text(most))
		}
	}
	return w
}

// bound reads a number, never or undefined, or a multiple of a metric of another
// strategy: {of: full-jitter, times: 2, metric: attempts}.
func (d *decoder) bound(n *yaml.Node, s *Scenario, known []metric, left *term) bound {
	b := bound{set: true, times: 1}
	if n.Kind != yaml.MappingNode {
		switch n.Value {
		case "never":
			b.times = metrics.Never
		case "undefined":
			b.times = math.NaN()
		default:
			b.times = d.number(n)
		}
		return b
	}
	x := d.section(n, n, "comparison", form[comparisonForm]())
	b.of = &term{fleet: -1, metric: left.metric, from: left.from, to: left.to}
	if at := x.need("of"); at != nil {
		b.of.strategy = max(0, d.comparedOne(at, s))
	}
	if at := x.get("times"); at != nil {
		b.times = d.number(at)
	}
	if at := x.get("metric"); at != nil {
		b.of.metric = d.metric(at, known)
	}
	if at := x.get("fleet"); at != nil {
		d.ofFleet(at, s, b.of)
	} else if b.of.metric.ofFleet != nil {
		b.of.fleet = left.fleet
	}
	if b.of.metric.series == nil {
		b.of.from, b.of.to = 0, 0
	}
	return b
}

// text returns a bound as a finding shows it.
func (d *decoder) text(n *yaml.Node) string {
	if n.Kind != yaml.MappingNode {
		return n.Value
	}
	var text string
	if at := child(n, "times"); at != nil {
		text = at.Value + " × "
	}
	if at := child(n, "metric"); at != nil {
		text += at.Value + " of "
	}
	if at := child(n, "of"); at != nil {
		text += at.Value
	}
	return text
}
