package scenarios

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// judge compares the measured values with the expectation.
func (e *expectation) judge(s *Scenario, values map[*term][]float64) Finding {
	f := Finding{Line: e.line, What: e.left.name(s), Wanted: e.wants.text, Seeds: e.seeds, Holds: true}
	switch e.over {
	case overMean:
		f.What = "mean " + f.What
	case overMedian:
		f.What = "median " + f.What
	}
	n := e.seeds
	if e.over != eachSeed {
		n = 1
	}
	worst := math.Inf(-1)
	for seed := range n {
		at := func(t *term) float64 {
			if e.over == eachSeed {
				return values[t][seed]
			}
			return e.over.of(values[t])
		}
		got := at(&e.left)
		if off := e.wants.off(got, at); off > worst || seed == 0 {
			worst, f.Got = off, e.show(got, at)
			f.Holds = !(off > 0)
		}
	}
	return f
}

// show writes a value, and the metric that it is compared with if there is one. A
// share is written in per cent if its bound is.
func (e *expectation) show(got float64, at func(*term) float64) string {
	text := exactly(got)
	if e.left.metric.unit == "share" && strings.Contains(e.wants.text, "%") && !math.IsNaN(got) {
		text = exactly(100*got) + "%"
	}
	for _, b := range []*bound{&e.wants.low, &e.wants.high} {
		if b.of != nil {
			return text + " : " + exactly(at(b.of))
		}
	}
	return text
}

// exactly writes a value to six decimal places, without trailing zeros.
func exactly(x float64) string {
	switch {
	case math.IsNaN(x):
		return "undefined"
	case math.IsInf(x, 1):
		return "never"
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.6f", x), "0"), ".")
}

// of returns the mean or the median of values.
func (o over) of(values []float64) float64 {
	if o == overMean {
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		return sum / float64(len(values))
	}
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, func(a, b float64) int {
		switch {
		case a < b || math.IsNaN(b) && !math.IsNaN(a):
			return -1
		case a == b || math.IsNaN(a) && math.IsNaN(b):
			return 0
		}
		return 1
	})
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// rounding is the relative tolerance for errors of floating-point arithmetic.
const rounding = 1e-9

// off returns the distance of a value from its bounds, 0 or less if it is within
// them.
func (w *wants) off(got float64, at func(*term) float64) float64 {
	low, high := math.Inf(-1), math.Inf(1)
	if w.low.set {
		low = w.low.value(at)
	}
	if w.high.set {
		high = w.high.value(at)
	}
	if w.exactly {
		switch high = low; {
		case math.IsNaN(low) && math.IsNaN(got), math.IsInf(low, 1) && math.IsInf(got, 1): // never equals never
			return 0
		case math.IsInf(low, 0) || math.IsInf(got, 0):
			return math.Inf(1)
		}
	}
	slack := w.within
	if w.relative {
		slack *= math.Abs(low)
	}
	slack += rounding * math.Abs(got)
	if math.IsNaN(got) || math.IsNaN(low) || math.IsNaN(high) {
		return math.Inf(1)
	}
	return max(low-slack-got, got-high-slack)
}

func (b *bound) value(at func(*term) float64) float64 {
	if b.of == nil {
		return b.times
	}
	return b.times * at(b.of)
}
