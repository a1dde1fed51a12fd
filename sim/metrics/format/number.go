package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Number formats v with three significant digits, or with all digits before
// the decimal point if these are more, in groups of three: 0.05, 2.85, 39.9,
// 273, 1,086. Whole numbers have no point. From a million on a letter gives the
// scale: 1.23 M, 2.00 G, 7.05 T. Infinity is "never" and NaN a dash.
func Number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < million {
		return Fixed(v, 0)
	}
	return significant(v)
}

// Mean formats the mean of several values. It is Number, except that a whole
// number keeps its decimals, 31.0, if the values vary: it is whole by chance
// and must not look exact.
func Mean(mean float64, vary bool) string {
	if vary && mean != 0 && math.Abs(mean) < million {
		return significant(mean)
	}
	return Number(mean)
}

// Set formats a number that was configured and not measured: as Number does,
// without trailing zeros after the point, 2.5.
func Set(v float64) string {
	s, letter, _ := strings.Cut(Number(v), " ")
	if letter != "" {
		letter = " " + letter
	}
	if strings.Contains(s, ".") && !strings.Contains(s, "e") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s + letter
}

// Fixed formats v with the given number of decimals and groups of three digits
// before the point.
func Fixed(v float64, decimals int) string {
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

// Percent formats a share, 0 to 1, with one decimal, or none if it is a whole
// number of percent: 63.4 %, 25 %. Only a share of 1 reads 100 % and only a
// share of 0 reads 0 %: near either end there are more decimals, 99.997 %, down
// to <0.001 %.
func Percent(share float64) string {
	if math.IsNaN(share) {
		return none
	}
	return percent(share, percentDecimals(share)) + " %"
}

// PercentLike returns a function that formats shares with the decimals that
// Percent gives to reference, without the unit.
func PercentLike(reference float64) func(share float64) string {
	decimals := percentDecimals(reference)
	return func(share float64) string { return percent(share, decimals) }
}

// Like returns a function that formats values with the decimals that Mean gives
// to reference.
func Like(reference float64, vary bool) func(v float64) string {
	if reference < 1 || reference >= million {
		return Number
	}
	_, fraction, _ := strings.Cut(Mean(reference, vary), ".")
	return func(v float64) string { return Fixed(v, len(fraction)) }
}

// PValue formats a p-value with two significant digits: p = 0.031.
func PValue(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.*f", decimals(p)-1, p)
}

// Seconds formats a duration, given in seconds, with its unit.
func Seconds(v float64) string { return withUnit(Number(v), "s") }

// AtOnce is the text for a drain or a recovery that takes no time.
const AtOnce = "at once"

// Settling formats the duration of a drain or a recovery, given in seconds:
// AtOnce if it is 0.
func Settling(mean float64, vary bool) string {
	if mean == 0 {
		return AtOnce
	}
	return Time(mean, vary)
}

// Time formats a mean duration, given in seconds, with its unit: seconds, or µs
// or ns if it is below a millisecond.
func Time(mean float64, vary bool) string {
	unit, seconds := TimeUnit(mean)
	return withUnit(Mean(mean/seconds, vary), unit)
}

// TimeUnit returns the unit in which Time formats a duration, given in seconds,
// and the unit's length in seconds.
func TimeUnit(v float64) (unit string, seconds float64) {
	if v > 0 && v < 1e-3 {
		u := unitOf(v)
		return u.name, u.seconds
	}
	return "s", 1
}

// Period formats the interval between two times of a run, given in seconds: in
// seconds below 1000, from 0 to 300 s, and above as minutes or hours, from 25:00
// to 27:00 min.
func Period(from, to float64) string {
	unit, write := "s", exact
	switch {
	case to > 0 && to < 0.1:
		u := unitOf(to)
		unit, write = u.name, func(s float64) string { return exact(s / u.seconds) }
	case to >= clockEnds:
		write = Set
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

// Width formats the width of a bin, given in seconds, as it was configured:
// 1 ns, 20 ms, 0.5 s, 90 s, 10 min, 1 h. A width of more than six characters is
// shortened to three significant digits, so that it fits a heading.
func Width(v float64) string {
	const room = 6
	u := unitOf(v)
	s := exact(v / u.seconds)
	if len(s) > room {
		s = Set(v / u.seconds)
	}
	return s + " " + u.name
}

// timeUnit is a unit of time.
type timeUnit struct {
	name    string
	seconds float64
}

// unitOf returns the unit in which a configured duration is a short number:
// minutes and hours only if the duration is a whole number of them.
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

// exact formats a configured time, given in seconds, to the nanosecond, without
// trailing zeros.
func exact(v float64) string {
	if !(math.Abs(v) < clockEnds) {
		return Set(v)
	}
	s := Fixed(v, 9)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Moment formats a time of a run, given in seconds, as a clock does, without
// fractions from a minute on: 12.5 s, 3:20, 1:05:00.
func Moment(v float64) string {
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
	// none stands for a missing number, minus is the sign of a negative one.
	none  = "–"
	minus = "−"
	// million is where the letter M begins: smaller numbers round to less.
	million = 999_999.5
	// clockEnds is the first time, in seconds, that is not formatted as a clock
	// does.
	clockEnds = 1e12
)

// withUnit appends a unit to a number, but not to a dash or to "never".
func withUnit(number, unit string) string {
	if number == none || number == "never" {
		return number
	}
	return number + " " + unit
}

// significant formats v with three significant digits, or with all digits
// before the point if these are more.
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
	case a < 0.9995: // without trailing zeros
		return signed(v, strconv.FormatFloat(a, 'g', 3, 64))
	}
	return Fixed(v, decimals(v))
}

func signed(v float64, digits string) string {
	if v < 0 {
		return minus + digits
	}
	return digits
}

// decimals returns the number of decimals that three significant digits of x
// need, 0 if the digits before the point are enough.
func decimals(x float64) int {
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

// maxPercentDecimals bounds the decimals of a percentage: one call in a hundred
// thousand.
const maxPercentDecimals = 3

// percentDecimals returns the number of decimals of a share in percent that
// keeps it from reading 0 or 100.
func percentDecimals(share float64) int {
	p := 100 * share
	whole := math.Abs(p-math.Round(p)) < 1e-9 // 100 × 0.29 is a bit less than 29
	if share <= 0 || share >= 1 || whole && !absolute(p, 0) {
		return 0
	}
	decimals := 1
	for decimals < maxPercentDecimals && absolute(p, decimals) {
		decimals++
	}
	return decimals
}

// absolute reports whether p percent, rounded to the decimals, reads 0 or 100.
func absolute(p float64, decimals int) bool {
	unit := math.Pow10(decimals)
	r := math.Round(p * unit)
	return r == 0 || r == 100*unit
}

// percent formats a share in percent with the given decimals, without the unit.
func percent(share float64, decimals int) string {
	p := 100 * share
	least := math.Pow10(-decimals)
	switch {
	case share <= 0 || share >= 1 || !absolute(p, decimals):
		return Fixed(p, decimals)
	case p < 50:
		return "<" + Fixed(least, decimals)
	}
	return ">" + Fixed(100-least, decimals)
}
