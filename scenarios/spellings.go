package scenarios

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/layers"
)

// spelling is the notation of a type that has its own notation in files.
type spelling struct {
	takes string // the notation, for herdlab scenarios --keys
	read  func(d *decoder, n *yaml.Node, what string, to reflect.Value)
}

// reads returns a spelling that uses a function which reads such a value.
func reads[T any](takes string, read func(d *decoder, n *yaml.Node) T) spelling {
	return spelling{takes, func(d *decoder, n *yaml.Node, _ string, to reflect.Value) { to.Set(reflect.ValueOf(read(d, n))) }}
}

// spellings are the types with their own notation.
var spellings = map[reflect.Type]spelling{
	reflect.TypeFor[mockprovider.Counted](): reads("what is counted together: "+strings.Join(countedWords, ", ")+", or a list", (*decoder).counted),
	reflect.TypeFor[mockprovider.Range](): {"a number, a range such as 0-99 or 100-, or a name", func(d *decoder, n *yaml.Node, what string, to reflect.Value) {
		to.Set(reflect.ValueOf(d.span(n, what)))
	}},
	reflect.TypeFor[mockprovider.Service](): reads("a time, or {first_token: time, per_input_token: duration, per_output_token: duration, per_attempt: true if the first is drawn for each attempt}", (*decoder).service),
	reflect.TypeFor[mockprovider.Point]():   reads("[load, value]", (*decoder).point),
	reflect.TypeFor[mockprovider.Price]():   reads("{input, output} in $ per million tokens", (*decoder).price),
	reflect.TypeFor[mockprovider.Notice]():  reads("never, at_once or a duration", (*decoder).notice),
	reflect.TypeFor[codeReplies]():          reads("by class its code, or {"+strings.Join(replyKeys, ", ")+"}", (*decoder).codeReplies),
	reflect.TypeFor[strategies.Classes]():   reads("a class or a list of classes", (*decoder).classes),
	reflect.TypeFor[layers.Statuses]():      reads("503 or 500-599", (*decoder).statuses),
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
	names := classWords()
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

// countedWords are the properties of a request by which limits count.
var countedWords = []string{"everyone", "account", "key", "address", "model", "region", "organisation"}

// counted reads the properties by which a limit counts: one word, or a list.
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
	s := d.section(n, n, "price", "input", "output")
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
		return mockprovider.Notice{Hears: true}
	}
	return mockprovider.Notice{Hears: true, Delay: d.duration(n)}
}
