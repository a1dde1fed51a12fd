package scenarios

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/layers"
)

// spelling is how files write values of a type that they write in a way of their
// own.
type spelling struct {
	takes  string // what to write, for people
	schema func(*schemaMaker) schema
	read   func(d *decoder, n *yaml.Node, f *setting, to reflect.Value) // nil for the types of forms
}

// reads makes a spelling of a function that reads such a value.
func reads[T any](takes string, schema func(*schemaMaker) schema, read func(d *decoder, n *yaml.Node) T) spelling {
	return spelling{takes, schema, func(d *decoder, n *yaml.Node, _ *setting, to reflect.Value) { to.Set(reflect.ValueOf(read(d, n))) }}
}

// spellingOf returns the spelling of a type that has its own.
func spellingOf(t reflect.Type) (s spelling, ok bool) {
	switch t {
	case reflect.TypeFor[mockprovider.Counted]():
		return reads("one or a list of "+strings.Join(countedWords, ", "), oneOrList(func(*schemaMaker) schema { return enum(countedWords) }), (*decoder).counted), true
	case reflect.TypeFor[mockprovider.Range]():
		return spelling{"a number, a range such as 0-99 or 100-, or a name", func(*schemaMaker) schema {
			return anyOf(schema{"type": "integer", "minimum": 0, "maximum": math.MaxUint32 - 1}, pattern(`^([0-9]+(-[0-9]*)?|[a-z0-9][a-z0-9.-]*)$`))
		}, func(d *decoder, n *yaml.Node, f *setting, to reflect.Value) {
			to.Set(reflect.ValueOf(d.span(n, f.names)))
		}}, true
	case reflect.TypeFor[mockprovider.Service]():
		return reads("a time, or {first_token, per_input_token, per_output_token, per_attempt}", func(m *schemaMaker) schema {
			return anyOf(m.value(distType, &setting{}), m.object(form[mockprovider.Service]()))
		}, (*decoder).service), true
	case reflect.TypeFor[mockprovider.Point]():
		return reads("[load, value]", func(*schemaMaker) schema { return listOf(number(), 2, 2) }, (*decoder).point), true
	case reflect.TypeFor[mockprovider.Price]():
		return reads("{input, output} in $ per million tokens", func(m *schemaMaker) schema { return m.object(form[priceForm]()) }, (*decoder).price), true
	case reflect.TypeFor[mockprovider.Notice]():
		return reads("never, at_once or a duration", func(*schemaMaker) schema {
			return pattern("^(never|at_once|" + durationPattern + ")$")
		}, (*decoder).notice), true
	case reflect.TypeFor[mockprovider.Schedule]():
		return spelling{"a number, or steps: {every: 24h, steps: [{from: 8h, value: 0.5}]}", func(m *schemaMaker) schema {
			return anyOf(number(), m.object(form[mockprovider.Schedule]()))
		}, func(d *decoder, n *yaml.Node, _ *setting, to reflect.Value) {
			d.share(n, to.Addr().Interface().(*mockprovider.Schedule))
		}}, true
	case reflect.TypeFor[codeReplies]():
		return reads("by class its code, or {"+strings.Join(keysOf(form[dialect.CodeReply]()), ", ")+"}", func(m *schemaMaker) schema {
			classes := schema{}
			for _, name := range namesOf(wire.OK) {
				classes[name] = m.define("reply", func() schema {
					return anyOf(schema{"type": "integer"}, m.object(form[dialect.CodeReply]()))
				})
			}
			return schema{"type": "object", "additionalProperties": false, "properties": classes}
		}, (*decoder).codeReplies), true
	case reflect.TypeFor[strategies.Classes]():
		return reads("a class or a list of classes", oneOrList(func(*schemaMaker) schema {
			return enum(append(namesOf(wire.OK), classSetNames()...))
		}), (*decoder).classes), true
	case reflect.TypeFor[layers.Statuses]():
		return reads("503 or 500-599", func(*schemaMaker) schema {
			return anyOf(schema{"type": "integer", "minimum": 100, "maximum": 999}, pattern(`^[1-9][0-9]{2}(-[1-9][0-9]{2})?$`))
		}, (*decoder).statuses), true
	case refusalType:
		return spelling{"a refusal", func(*schemaMaker) schema { return enum(refusalNames()) }, nil}, true
	case reflect.TypeFor[versionText]():
		return spelling{version, func(*schemaMaker) schema { return enum([]string{version}) }, nil}, true
	case reflect.TypeFor[nameText]():
		return spelling{"lower-case letters, digits, dots and hyphens", func(*schemaMaker) schema { return anyOf(pattern(namePattern), schema{"type": "number"}) }, nil}, true
	case reflect.TypeFor[titleText]():
		return spelling{"a text of one line", func(*schemaMaker) schema {
			return anyOf(schema{"type": "string", "maxLength": maxTitle}, schema{"type": []string{"number", "boolean"}})
		}, nil}, true
	case reflect.TypeFor[rateText]():
		return spelling{"a rate", func(*schemaMaker) schema { return pattern(ratePattern) }, nil}, true
	case reflect.TypeFor[phaseText]():
		return spelling{"a duration, or {uniform: [0s, 10s]}", func(m *schemaMaker) schema {
			return m.value(distType, &setting{})
		}, nil}, true
	case reflect.TypeFor[tokensText]():
		return spelling{"{" + strings.Join(keysOf(form[sizeForm]()), ", ") + "}, or a list of them with a weight each", func(m *schemaMaker) schema {
			return anyOf(m.object(form[sizeForm]()), listOf(m.object(form[shareForm]()), 1, maxSizes))
		}, nil}, true
	case reflect.TypeFor[dialectText]():
		return spelling{"a dialect, or {" + ownDialect + ": …}", func(m *schemaMaker) schema {
			own := schema{ownDialect: m.object(form[dialect.CodeInBody]())}
			return anyOf(enum(m.format.dialectNames()), schema{"type": "object", "additionalProperties": false, "properties": own, "required": []string{ownDialect}})
		}, nil}, true
	case reflect.TypeFor[hintText]():
		return spelling{"a duration, " + strings.Join(hintNames(), ", "), func(m *schemaMaker) schema {
			return anyOf(m.value(durationType, &setting{}), enum(hintNames()))
		}, nil}, true
	case reflect.TypeFor[eitherText]():
		return spelling{"true | false", func(*schemaMaker) schema { return enum([]string{"true", "false"}) }, nil}, true
	case reflect.TypeFor[metricText]():
		return spelling{"a metric", func(*schemaMaker) schema { return enum(metricNames()) }, nil}, true
	case reflect.TypeFor[boundText]():
		return spelling{"a number, never, undefined, or {" + strings.Join(keysOf(form[comparisonForm]()), ", ") + "}", func(m *schemaMaker) schema {
			return anyOf(number(), enum([]string{"never", "undefined"}), m.object(form[comparisonForm]()))
		}, nil}, true
	case reflect.TypeFor[betweenText]():
		return spelling{"[least, most]", func(m *schemaMaker) schema {
			return listOf(m.value(reflect.TypeFor[boundText](), &setting{}), 2, 2)
		}, nil}, true
	case reflect.TypeFor[shareText]():
		return spelling{"a number, or a percentage of the value", func(*schemaMaker) schema { return number() }, nil}, true
	case reflect.TypeFor[namesText]():
		return spelling{"a name or a list of names", oneOrList(func(*schemaMaker) schema { return anyText() }), nil}, true
	case reflect.TypeFor[trafficChoice]():
		return spelling{"one of the kinds of traffic", func(m *schemaMaker) schema {
			return m.selection("traffic", trafficKinds(), nil)
		}, nil}, true
	case reflect.TypeFor[strategyChoice]():
		return spelling{"a name, or {" + strings.Join(keysOf(form[strategyForm]()), ", ") + "}", func(m *schemaMaker) schema {
			own := m.object(form[strategyForm]())
			own["if"] = schema{"not": schema{"required": []string{"stack"}}}
			own["then"] = schema{"properties": schema{"name": m.strategyName()}}
			return anyOf(m.strategyName(), own)
		}, nil}, true
	case reflect.TypeFor[layerChoice]():
		return spelling{"a layer, or the name of a strategy for its layers", func(m *schemaMaker) schema {
			return anyOf(m.value(reflect.TypeFor[strategies.Layer](), &setting{}), m.strategyName())
		}, nil}, true
	case reflect.TypeFor[timedFault]():
		return spelling{"a fault", func(m *schemaMaker) schema {
			return m.selection("fault", m.format.allFaults(), func(k *Kind) []setting { return settingsOf(timing(k)) })
		}, nil}, true
	}
	return spelling{}, false
}

// oneOrList is one of something, or a list.
func oneOrList(of func(*schemaMaker) schema) func(*schemaMaker) schema {
	return func(m *schemaMaker) schema { return anyOf(of(m), listOf(of(m), 0, maxItems)) }
}

// strategyName is the name of a built-in strategy.
func (m *schemaMaker) strategyName() schema {
	return m.define("strategy_name", func() schema {
		var names []string
		for _, s := range m.format.Strategies() {
			names = append(names, s.Name)
		}
		return enum(names)
	})
}

// classSets are the named sets of classes.
var classSets = []struct {
	name string
	set  strategies.Classes
}{
	{"transient", strategies.Transient}, {"limits", strategies.Limits}, {"unanswered", strategies.Unanswered}, {"any_failure", strategies.AnyFailure},
}

// classes reads a set of classes: a class, a named set, or a list of both.
func (d *decoder) classes(n *yaml.Node) (all strategies.Classes) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = d.list(n, "classes", wire.NumClasses)
	}
	names := namesOf(wire.OK)
	for _, s := range classSets {
		names = append(names, s.name)
	}
	for _, item := range items {
		switch i := slices.Index(names, d.word(item, "class", names...)); {
		case i >= wire.NumClasses:
			all |= classSets[i-wire.NumClasses].set
		case i >= 0:
			all |= strategies.ClassesOf(wire.Class(i))
		}
	}
	return all
}

// statuses reads an HTTP status, or a range such as 500-599.
func (d *decoder) statuses(n *yaml.Node) (r layers.Statuses) {
	s, ok := d.scalar(n, "an HTTP status such as 503, or a range such as 500-599")
	if !ok {
		return r
	}
	from, to, ranged := strings.Cut(s, "-")
	first, err := strconv.ParseUint(from, 10, 10)
	last := first
	if err == nil && ranged {
		last, err = strconv.ParseUint(to, 10, 10)
	}
	if err != nil || first < 100 || last < first || last > 999 {
		d.complain(n, "expected an HTTP status such as 503, or a range such as 500-599, found %s", quoted(s))
		return r
	}
	return layers.Statuses{First: uint16(first), Last: uint16(last)}
}

// countedWords are the properties by which requests are counted apart.
var countedWords = []string{"everyone", "account", "key", "address", "model", "region", "organisation"}

// counted reads which requests are counted together: one word, or a list.
func (d *decoder) counted(n *yaml.Node) (c mockprovider.Counted) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = d.list(n, "per", len(countedWords))
	}
	for _, item := range items {
		if w := d.word(item, "per", countedWords...); w != "" && w != "everyone" {
			c |= 1 << (slices.Index(countedWords, w) - 1)
		}
	}
	return c
}

// span reads a range of numbers, such as 7, 0-99 or 100-, or of the names of
// models and regions.
func (d *decoder) span(n *yaml.Node, what string) mockprovider.Range {
	s, ok := d.scalar(n, "a number or a range such as 0-99")
	if !ok {
		return mockprovider.Range{}
	}
	if what == "accounts" {
		if r, ok := d.accounts[s]; ok {
			return r
		}
	}
	if names := d.named[what]; len(names) > 0 {
		if i := slices.Index(names, s); i >= 0 {
			return mockprovider.Just(uint32(i))
		}
		if s == "" || strings.Trim(s, "0123456789-") != "" {
			d.oneOf(n, strings.TrimSuffix(what, "s"), names)
			return mockprovider.Range{}
		}
	}
	from, to, ranged := strings.Cut(s, "-")
	first, err := strconv.ParseUint(from, 10, 32)
	last := first
	if err == nil && ranged && to != "" {
		last, err = strconv.ParseUint(to, 10, 32)
	}
	switch {
	case err != nil:
		d.complain(n, "expected a number or a range such as 0-99, found %s", quoted(s))
	case last < first:
		d.complain(n, "the range %s ends before it begins", s)
	case ranged && to == "":
		return mockprovider.Range{From: uint32(first)}
	case last == math.MaxUint32:
		d.complain(n, "%d is too large; write %s- for a range without an upper end", last, from)
	default:
		return mockprovider.Range{From: uint32(first), To: uint32(last) + 1}
	}
	return mockprovider.Range{}
}

// point reads a point of a curve: [load, value].
func (d *decoder) point(n *yaml.Node) (p mockprovider.Point) {
	items := d.list(n, "numbers", 2)
	if items != nil && len(items) != 2 {
		d.complain(n, "expected a load and a value, such as [0.8, 2]")
		return p
	}
	if items != nil {
		p.Load, p.Value = d.number(items[0]), d.number(items[1])
	}
	return p
}

// maxPrice bounds prices, in dollars for a million tokens.
const maxPrice = 1_000_000

// price reads dollars for a million tokens of input and output: {input: 0.15,
// output: 0.60}. A dollar for a million tokens is 1000 nano-dollars for one.
func (d *decoder) price(n *yaml.Node) (p mockprovider.Price) {
	s := d.section(n, n, "price", form[priceForm]())
	read := func(key string) int64 {
		at := s.get(key)
		text, ok := d.scalar(at, "dollars for a million tokens, such as 0.15")
		if !ok {
			return 0
		}
		whole, frac, m := decimal(text)
		if m != nil || whole > maxPrice || len(frac) > 3 {
			d.complain(at, "expected dollars for a million tokens, such as 0.15, at most %d and to a tenth of a cent; found %s", maxPrice, quoted(text))
			return 0
		}
		thousandths, _ := strconv.ParseInt((frac + "000")[:3], 10, 64)
		return int64(whole)*1000 + thousandths
	}
	p.Input, p.Output = read("input"), read("output")
	return p
}

// notice reads the delay until a provider notices that a client has closed its
// connection: never, at_once, or a time.
func (d *decoder) notice(n *yaml.Node) mockprovider.Notice {
	s, ok := d.scalar(n, "never, at_once or a time such as 5s")
	switch {
	case !ok || s == "never":
		return mockprovider.Notice{}
	case s == "at_once":
		return mockprovider.Notice{Noticed: true}
	}
	return mockprovider.Notice{Noticed: true, Delay: d.duration(n)}
}
