package metrics

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// This file is how numbers are written for people, in tables, sentences and
// figures alike: the same value reads the same wherever it is met.

// FormatNumber writes v with three significant digits, or with all that are
// left of the point, in groups of three: 0.05, 2.85, 39.9, 273, 1,086. Whole
// numbers have no point, and from a million on numbers have a letter: 1.23 M,
// 2.00 G, 7.05 T. Infinity is "never" and NaN a dash.
func FormatNumber(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < million {
		return FormatFixed(v, 0)
	}
	return significant(v)
}

// FormatMean writes the mean of values as FormatNumber does, unless it is a
// whole number by chance, while the values vary: then it keeps its digits
// after the point, 31.0, and does not pass for exact.
func FormatMean(mean float64, vary bool) string {
	if vary && mean != 0 && math.Abs(mean) < million {
		return significant(mean)
	}
	return FormatNumber(mean)
}

// FormatSet writes a number that was set and not measured: as FormatNumber
// does, without zeros at the end of a fraction, 2.5.
func FormatSet(v float64) string {
	s, letter, _ := strings.Cut(FormatNumber(v), " ")
	if letter != "" {
		letter = " " + letter
	}
	if strings.Contains(s, ".") && !strings.Contains(s, "e") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s + letter
}

// FormatFixed writes v with so many decimals and groups of three before the
// point.
func FormatFixed(v float64, decimals int) string {
	digits := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, fraction, point := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + fraction
	}
	if v < 0 && strings.Trim(digits, "0.") != "" {
		return minus + whole
	}
	return whole
}

// FormatPercent writes a share with one decimal, or none if it is a whole
// number: 63.4 %, 25 %. Only all is 100 % and only nothing is 0 %: close to
// either end there are more decimals, 99.997 %, down to <0.001 %.
func FormatPercent(share float64) string {
	if math.IsNaN(share) {
		return none
	}
	return formatPercent(share, percentPlaces(share)) + " %"
}

// FormatSeconds writes a length of time, given in seconds, with its unit.
func FormatSeconds(v float64) string { return withUnit(FormatNumber(v), "s") }

// AtOnce is what is said of a drain or a recovery that takes no time.
const AtOnce = "at once"

// FormatSettling writes how long a drain or a recovery took, in seconds: at
// once if it took no time.
func FormatSettling(mean float64, vary bool) string {
	if mean == 0 {
		return AtOnce
	}
	return FormatTime(mean, vary)
}

// FormatTime writes a mean time, given in seconds, with its unit: in seconds,
// or in µs or ns if it is shorter than a millisecond.
func FormatTime(mean float64, vary bool) string {
	u := measured(mean)
	return withUnit(FormatMean(mean/u.seconds, vary), u.name)
}

// measured is the unit in which a measured time is written.
func measured(v float64) timeUnit {
	if v > 0 && v < 1e-3 {
		return unitOf(v)
	}
	return timeUnit{"s", 1}
}

// FormatPeriod writes the period between two moments of a run, given in
// seconds: in seconds as long as these are easy to read, from 0 to 300 s, then
// as minutes or hours, from 25:00 to 27:00 min.
func FormatPeriod(from, to float64) string {
	unit, write := "s", exact
	switch {
	case to > 0 && to < 0.1:
		u := unitOf(to)
		unit, write = u.name, func(s float64) string { return exact(s / u.seconds) }
	case to >= clockEnds:
		write = FormatSet
	case to < 1000 || from != math.Trunc(from) || to != math.Trunc(to):
	case to < 2*3600:
		unit, write = "min", func(s float64) string { return fmt.Sprintf("%d:%02d", int64(s)/60, int64(s)%60) }
	default:
		unit, write = "h", func(s float64) string {
			return fmt.Sprintf("%d:%02d:%02d", int64(s)/3600, int64(s)/60%60, int64(s)%60)
		}
	}
	return withUnit("from "+write(from)+" to "+write(to), unit)
}

// FormatWidth writes the width of a bin, given in seconds, as it was set: 1 ns,
// 20 ms, 0.5 s, 90 s, 10 min, 1 h. If it has more digits than a heading has
// room for, three are left.
func FormatWidth(v float64) string {
	const room = 6
	u := unitOf(v)
	s := exact(v / u.seconds)
	if len(s) > room {
		s = FormatSet(v / u.seconds)
	}
	return s + " " + u.name
}

// timeUnit is a unit of time.
type timeUnit struct {
	name    string
	seconds float64
}

// unitOf returns the unit in which a length of time that was set is a short
// number: minutes and hours only if it is whole in them.
func unitOf(v float64) timeUnit {
	switch {
	case v >= 3600 && math.Mod(v, 3600) == 0:
		return timeUnit{"h", 3600}
	case v >= 60 && math.Mod(v, 60) == 0:
		return timeUnit{"min", 60}
	case v >= 0.1 || !(v > 0):
		return timeUnit{"s", 1}
	case v > 0.9999e-3:
		return timeUnit{"ms", 1e-3}
	case v > 0.9999e-6:
		return timeUnit{"µs", 1e-6}
	}
	return timeUnit{"ns", 1e-9}
}

// exact writes a time that was set to the nanosecond if it is in seconds: all
// its digits, without zeros at the end.
func exact(v float64) string {
	if !(math.Abs(v) < clockEnds) {
		return FormatSet(v)
	}
	s := FormatFixed(v, 9)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// FormatMoment writes a moment of a run, given in seconds, as a clock shows
// it, without fractions from a minute on: 12.5 s, 3:20, 1:05:00.
func FormatMoment(v float64) string {
	s := int64(min(v, clockEnds))
	switch {
	case !(v >= 60):
		return exact(v) + " s"
	case v < 3600:
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

const (
	// none is written where there is no number, minus before one below 0.
	none  = "–"
	minus = "−"
	// million is where letters begin: less would be rounded up to it.
	million = 999_999.5
	// clockEnds is a time that no clock shows, in seconds.
	clockEnds = 1e12
)

// withUnit puts a unit behind a number. Words have none.
func withUnit(number, unit string) string {
	if number == none || number == "never" {
		return number
	}
	return number + " " + unit
}

// significant writes v with three significant digits, or with all that are
// left of the point.
func significant(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return none
	case math.IsInf(v, 0):
		return "never"
	case a >= 999.5e12:
		return signed(v, strconv.FormatFloat(a, 'g', 3, 64))
	case a >= 999.5e9:
		return significant(v/1e12) + " T"
	case a >= 999.5e6:
		return significant(v/1e9) + " G"
	case a >= million:
		return significant(v/1e6) + " M"
	case a < 0.9995: // zeros at the end would say little and cost much
		return signed(v, strconv.FormatFloat(a, 'g', 3, 64))
	}
	return FormatFixed(v, places(v))
}

func signed(v float64, digits string) string {
	if v < 0 {
		return minus + digits
	}
	return digits
}

// places is how many decimals show three significant digits of x, and none
// where digits before the point are enough.
func places(x float64) int {
	x = math.Abs(x)
	switch {
	case x >= 99.95:
		return 0
	case x >= 9.995 || x == 0:
		return 1
	case x >= 0.9995:
		return 2
	}
	return min(9, 2-int(math.Floor(math.Log10(x))))
}

// maxPercentPlaces bounds how many decimals a percentage has: one call in a
// hundred thousand.
const maxPercentPlaces = 3

// percentPlaces is how many decimals a share has, so that it is not taken for
// all or nothing.
func percentPlaces(share float64) int {
	p := 100 * share
	whole := math.Abs(p-math.Round(p)) < 1e-9 // 100 × 0.29 is a bit less than 29
	if share <= 0 || share >= 1 || whole && !absolute(p, 0) {
		return 0
	}
	decimals := 1
	for decimals < maxPercentPlaces && absolute(p, decimals) {
		decimals++
	}
	return decimals
}

// absolute reports whether p percent with so many decimals reads as all or
// nothing.
func absolute(p float64, decimals int) bool {
	unit := math.Pow10(decimals)
	r := math.Round(p * unit)
	return r == 0 || r == 100*unit
}

// formatPercent writes a share in percent with so many decimals, without the
// unit.
func formatPercent(share float64, decimals int) string {
	p := 100 * share
	least := math.Pow10(-decimals)
	switch {
	case share <= 0 || share >= 1 || !absolute(p, decimals):
		return FormatFixed(p, decimals)
	case p < 50:
		return "<" + FormatFixed(least, decimals)
	}
	return ">" + FormatFixed(100-least, decimals)
}
