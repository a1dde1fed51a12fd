package plots

import (
	"math"
	"strings"

	"herdlab/sim/metrics/format"
)

// scale maps values to a share of an axis: 0 at its beginning and 1 at its end.
// A value outside maps to the nearer end.
type scale struct {
	lo, hi float64
	log    bool
}

// at returns the share of v.
func (s scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		if v <= lo {
			return 0
		}
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	share := (v - lo) / (hi - lo)
	if !(share > 0) {
		return 0
	}
	return min(share, 1)
}

// logScale returns a logarithmic scale from half of least, which must be positive,
// to a little above most. A logarithm has no zero: an area begins at half of the
// smallest possible rate, so that one attempt is visible.
func logScale(least, most float64) scale {
	return scale{lo: least / 2, hi: max(most*1.15, least*10), log: true}
}

// maxTicks bounds the loops over ticks, which rounding might make endless.
const maxTicks = 100

// tick is a place on an axis with its label.
type tick struct {
	at    float64
	label string
}

// decades returns the powers of ten on a logarithmic axis of length pixels. Every
// power has a label, or every second, third … so that labels are at least spacing
// pixels apart.
func (s scale) decades(length, spacing float64) []tick {
	first, last := math.Ceil(math.Log10(s.lo)-1e-9), math.Floor(math.Log10(s.hi)+1e-9)
	per := length / math.Log10(s.hi/s.lo)
	every := max(1, math.Ceil(spacing/per))
	var ticks []tick
	for e := first; e <= last && len(ticks) < maxTicks; e++ {
		t := tick{at: math.Pow(10, e)}
		if math.Mod(e, every) == 0 {
			t.label = format.Set(t.at)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// round returns about n ticks at round values of a linear axis.
func (s scale) round(n int) []tick {
	step := niceStep((s.hi - s.lo) / float64(n))
	var ticks []tick
	for i := math.Ceil(s.lo/step - 1e-9); i*step <= s.hi*(1+1e-9) && len(ticks) < maxTicks; i++ {
		ticks = append(ticks, tick{at: i * step, label: format.Set(i * step)})
	}
	return ticks
}

// niceStep returns the smallest of 1, 2, 5 × 10ⁿ that is at least v.
func niceStep(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= v*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// timeSteps are the usual steps of a time axis, in seconds.
var timeSteps = []float64{1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400}

// niceTime returns the smallest usual step of a time axis that is at least v
// seconds.
func niceTime(v float64) float64 {
	if v <= 1 {
		return niceStep(v)
	}
	for _, s := range timeSteps {
		if s >= v*(1-1e-9) {
			return s
		}
	}
	return 86400 * niceStep(v/86400)
}

// timeLabel formats a time on an axis with up to three decimals.
func timeLabel(t float64) string {
	return strings.TrimSuffix(strings.TrimRight(format.Fixed(t, 3), "0"), ".")
}

// timeUnit is the unit of a time axis.
type timeUnit struct {
	name    string
	seconds float64
}

// unitFor returns the unit of an axis of span seconds.
func unitFor(span float64) timeUnit {
	switch {
	case span < 0.9e-5:
		return timeUnit{"ns", 1e-9}
	case span < 0.9e-2:
		return timeUnit{"µs", 1e-6}
	case span < 0.1:
		return timeUnit{"ms", 1e-3}
	case span <= 1200:
		return timeUnit{"s", 1}
	case span <= 4*3600:
		return timeUnit{"min", 60}
	case span <= 4*86400:
		return timeUnit{"h", 3600}
	default:
		return timeUnit{"d", 86400}
	}
}

// times returns about n ticks of a time axis in seconds, and the unit of their
// labels.
func (s scale) times(n int) ([]tick, timeUnit) {
	u := unitFor(s.hi - s.lo)
	step := niceTime((s.hi - s.lo) / float64(n))
	var ticks []tick
	for i := math.Ceil(s.lo/step - 1e-9); i*step <= s.hi*(1+1e-9) && len(ticks) < maxTicks; i++ {
		ticks = append(ticks, tick{i * step, timeLabel(i * step / u.seconds)})
	}
	return ticks, u
}
