package scenarios

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"herdlab/sim/draw"
)

// word reads a scalar that is one of the names.
func (d *decoder) word(n *yaml.Node, what string, names ...string) string {
	s, ok := d.scalar(n, what)
	if !ok || !d.oneOf(n, what, names) {
		return ""
	}
	return s
}

// enumerated reads a value of an enumeration all of whose values have a name; 0 if
// there is none.
func (d *decoder) enumerated(n *yaml.Node, what string, of enumeration) int {
	names := namesOf(of)
	return max(0, slices.Index(names, d.word(n, what, names...)))
}

// scalar reads a value that is neither a list nor a mapping nor absent.
func (d *decoder) scalar(n *yaml.Node, what string) (string, bool) {
	switch {
	case n == nil:
		return "", false
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		d.complain(n, "expected %s, found %s", what, found(n))
		return "", false
	}
	return n.Value, true
}

// list reads a list of at most limit items.
func (d *decoder) list(n *yaml.Node, what string, limit int) []*yaml.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind != yaml.SequenceNode:
		d.complain(n, "expected a list of %s, found %s", what, found(n))
		return nil
	case len(n.Content) > limit:
		d.complain(n, "the list has %d %s; expected at most %d", len(n.Content), what, limit)
		return nil
	}
	return n.Content
}

// integer reads a whole number between low and high.
func (d *decoder) integer(n *yaml.Node, low, high int64) int64 {
	s, ok := d.scalar(n, "a whole number")
	if !ok {
		return 0
	}
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		d.complain(n, "expected a whole number from %d to %d, found %s", low, high, quoted(s))
		return 0
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v < low || v > high {
		d.complain(n, "%s is out of range; expected a whole number from %d to %d", short(s), low, high)
		return 0
	}
	return v
}

// boolean reads true or false; an absent value is false.
func (d *decoder) boolean(n *yaml.Node) bool {
	s, ok := d.scalar(n, "true or false")
	if ok && s != "true" && s != "false" {
		d.complain(n, "expected true or false, found %s", quoted(s))
	}
	return s == "true"
}

// duration reads a duration, which may be zero.
func (d *decoder) duration(n *yaml.Node) time.Duration {
	s, ok := d.scalar(n, "a duration such as 30s")
	if !ok {
		return 0
	}
	v, m := parseDuration(s)
	if m != nil {
		d.report(n.Line, n.Column, m)
	}
	return v
}

// positive reads a duration that is longer than zero. ok is false if the value is
// absent or invalid.
func (d *decoder) positive(n *yaml.Node) (v time.Duration, ok bool) {
	before := d.count()
	v = d.duration(n)
	if n == nil || d.count() > before {
		return 0, false
	}
	if v == 0 {
		d.complain(n, "the duration must be longer than zero")
		return 0, false
	}
	return v, true
}

// rate reads a rate. ok is false if the value is absent or invalid.
func (d *decoder) rate(n *yaml.Node) (r rate, ok bool) {
	s, ok := d.scalar(n, "a rate such as 120/min")
	if !ok {
		return rate{}, false
	}
	r, m := parseRate(s)
	if m != nil {
		d.report(n.Line, n.Column, m)
	}
	return r, m == nil
}

// distributions are the names of distributions besides the constant.
var distributions = []string{"uniform", "exponential", "lognormal", "sample"}

// dist reads a distribution of durations: a duration, or {uniform: [0s, 1ms]},
// {exponential: 2s}, {lognormal: {mean: 2s, cv: 0.3}}.
func (d *decoder) dist(n *yaml.Node) draw.Dist {
	if n == nil || n.Kind != yaml.MappingNode {
		return draw.Const(d.duration(n))
	}
	name, at, body := d.variant(n, "distribution", distributions...)
	switch name {
	case "uniform":
		ends := d.list(body, "two durations", 2)
		if len(ends) != 2 {
			if ends != nil {
				d.complain(body, "expected two durations, such as [0s, 1ms]")
			}
			return draw.Dist{}
		}
		u := draw.Between(d.duration(ends[0]), d.duration(ends[1]))
		if u.High < u.Low {
			d.complain(ends[1], "the upper end %s is below the lower end %s", inFile(u.High), inFile(u.Low))
		}
		return u
	case "exponential":
		mean, _ := d.positive(body)
		return draw.Expo(mean)
	case "sample":
		items := d.list(body, "durations", maxItems)
		values := make([]time.Duration, len(items))
		for i, item := range items {
			values[i] = d.duration(item)
		}
		if len(values) == 0 {
			if body != nil && body.Kind == yaml.SequenceNode && len(body.Content) == 0 {
				d.complain(body, "a sample needs at least one duration, such as [100ms, 120ms, 300ms]")
			}
			return draw.Dist{}
		}
		sample, err := draw.Values(values...)
		if err != nil {
			d.complain(body, "%v", err)
		}
		return sample
	case "lognormal":
		s := d.section(at, body, "lognormal", form[lognormalForm]())
		mean, _ := d.positive(s.need("mean"))
		return draw.Dist{Kind: draw.Lognormal, Mean: mean, CV: d.variation(s.need("cv"))}
	}
	return draw.Dist{}
}

// lognormalForm lists the keys of a lognormal distribution.
type lognormalForm struct {
	Mean time.Duration `required:"2s" least:"1ns" about:"The mean."`
	CV   float64       `required:"0.3" key:"cv" about:"The coefficient of variation: standard deviation ÷ mean, below 100."`
}

// maxVariation bounds coefficients of variation: beyond it samples do not
// approach their mean.
const maxVariation = 100

// variation reads a coefficient of variation.
func (d *decoder) variation(n *yaml.Node) float64 {
	s, ok := d.scalar(n, "a number such as 0.3")
	if !ok {
		return 0
	}
	whole, _, m := decimal(s)
	if m != nil || whole >= maxVariation {
		d.complain(n, "expected a number from 0 up to %d, such as 0.3; found %s", maxVariation, quoted(s))
		return 0
	}
	v, _ := strconv.ParseFloat(s, 64) // plain digits, so it cannot fail
	return v
}
