package scenarios

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// maxDuration bounds every duration of a file, so that sums of a few durations and
// extreme random draws do not overflow.
const (
	maxDuration     = 10 * 365 * 24 * time.Hour
	maxDurationText = "10 years"
)

// maxCount bounds the count of a rate.
const maxCount = 1_000_000_000

// unit is a unit of time.
type unit struct {
	name string
	len  time.Duration
}

// The units of time, from large to small.
var units = []unit{
	{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"min", time.Minute}, {"s", time.Second},
	{"ms", time.Millisecond}, {"us", time.Microsecond}, {"µs", time.Microsecond}, {"ns", time.Nanosecond},
}

// longNames are other spellings of units, for suggestions.
var longNames = []struct{ name, unit string }{
	{"day", "d"}, {"hour", "h"}, {"hr", "h"}, {"minute", "min"}, {"mins", "min"}, {"second", "s"}, {"sec", "s"}, {"secs", "s"},
	{"millisecond", "ms"}, {"millis", "ms"}, {"msec", "ms"}, {"microsecond", "us"}, {"usec", "us"}, {"nanosecond", "ns"}, {"nsec", "ns"},
}

// mistake is an error in a value, before its place is known.
type mistake struct{ message, suggestion string }

func mistaken(format string, args ...any) *mistake {
	return &mistake{message: fmt.Sprintf(format, args...)}
}

func findUnit(name string) (unit, *mistake) {
	names := make([]string, len(units))
	for i, u := range units {
		if u.name == name {
			return u, nil
		}
		names[i] = u.name
	}
	if bare := strings.TrimSpace(name); bare != name {
		if _, m := findUnit(bare); m != nil {
			return unit{}, m
		}
		return unit{}, mistaken("there is a space before the unit %s; remove it", bare)
	}
	m := mistaken("unknown unit %s; the units are ns, us, ms, s, m (or min), h and d", quoted(name))
	for _, l := range longNames {
		if word := strings.ToLower(name); word == l.name || word == l.name+"s" {
			m.suggestion = l.unit
			return unit{}, m
		}
	}
	m.suggestion = Nearest(name, names)
	return unit{}, m
}

// parseDuration reads a duration such as 30s, 0.5s or 1m30s exactly. A duration that
// is not a whole number of nanoseconds is an error.
func parseDuration(s string) (time.Duration, *mistake) {
	const example = "a duration such as 30s, 50ms or 1m30s"
	if strings.HasPrefix(s, "-") {
		return 0, mistaken("%s is negative; expected %s", quoted(s), example)
	}
	var sum time.Duration
	var last unit
	for rest := s; rest != "" || s == ""; {
		var number, name string
		number, rest = span(rest, "0123456789.")
		if strings.Trim(number, ".") == "" {
			return 0, mistaken("expected %s, found %s", example, quoted(s))
		}
		name, rest = spanNot(rest, "0123456789.")
		if name == "" {
			return 0, mistaken("%s has no unit; add one, such as %ss", quoted(s), short(number))
		}
		u, m := findUnit(name)
		if m != nil {
			return 0, m
		}
		if last.len != 0 && u.len >= last.len {
			return 0, mistaken("in %s the unit %s follows %s; units go from large to small", quoted(s), u.name, last.name)
		}
		part, m := times(number, u)
		if m != nil {
			return 0, m
		}
		if sum += part; sum > maxDuration {
			return 0, mistaken("%s is longer than %s", quoted(s), maxDurationText)
		}
		last = u
	}
	return sum, nil
}

// times returns number × u, which is at most maxDuration + u.
func times(number string, u unit) (time.Duration, *mistake) {
	whole, frac, m := decimal(number)
	if m != nil {
		return 0, m
	}
	if whole > uint64(maxDuration/u.len) {
		return 0, mistaken("%s%s is longer than %s", short(number), u.name, maxDurationText)
	}
	// frac/scale < 1, so the quotient is less than u and Div64 cannot overflow.
	scale := pow10(len(frac))
	f, _ := strconv.ParseUint("0"+frac, 10, 64)
	hi, lo := bits.Mul64(f, uint64(u.len))
	q, r := bits.Div64(hi, lo, scale)
	if r != 0 {
		return 0, mistaken("%s%s is not a whole number of nanoseconds; use fewer decimal places", short(number), u.name)
	}
	return time.Duration(whole)*u.len + time.Duration(q), nil
}

// decimal splits a decimal number into its whole part and the digits of its
// fraction without trailing zeros, at most 18 of them.
func decimal(s string) (whole uint64, frac string, m *mistake) {
	w, frac, dot := strings.Cut(s, ".")
	if w == "" || dot && frac == "" || strings.Trim(w+frac, "0123456789") != "" {
		return 0, "", mistaken("expected a decimal number, found %s", quoted(s))
	}
	frac = strings.TrimRight(frac, "0")
	if len(frac) > 18 {
		return 0, "", mistaken("%s has too many decimal places", quoted(s))
	}
	whole, err := strconv.ParseUint(w, 10, 64)
	if err != nil {
		return 0, "", mistaken("%s is too large", quoted(s))
	}
	return whole, frac, nil
}

func pow10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// inFile writes a duration in the notation of files: 7m, not 7m0s.
func inFile(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// rate is count per time, an exact ratio. scale is the factor by which both were
// multiplied to make the count a whole number.
type rate struct {
	count int64
	per   time.Duration
	scale int64
}

// parseRate reads a rate: a positive decimal number, a slash, and a duration
// or a unit, such as 120/min, 2.1/s or 20/3s. A fraction of a count becomes a
// whole count in a longer time: 2.1/s is 21 in 10 s.
func parseRate(s string) (rate, *mistake) {
	number, period, slash := strings.Cut(s, "/")
	number, period = strings.TrimSpace(number), strings.TrimSpace(period)
	if !slash || period == "" {
		return rate{}, mistaken("expected a rate such as 120/min, 2.1/s or 20/3s, found %s", quoted(s))
	}
	whole, frac, m := decimal(number)
	if m != nil {
		return rate{}, m
	}
	if len(frac) > 9 {
		return rate{}, mistaken("%s has too many decimal places", quoted(number))
	}
	r := rate{scale: int64(pow10(len(frac)))}
	if strings.ContainsAny(period[:1], "0123456789.") {
		if r.per, m = parseDuration(period); m != nil {
			return rate{}, m
		}
	} else {
		u, m := findUnit(period)
		if m != nil {
			return rate{}, m
		}
		r.per = u.len
	}
	if whole > maxCount {
		return rate{}, mistaken("the count of a rate is at most %d, found %s", maxCount, short(number))
	}
	f, _ := strconv.ParseInt("0"+frac, 10, 64)
	r.count = int64(whole)*r.scale + f
	if r.count == 0 || r.per == 0 {
		return rate{}, mistaken("a rate must be positive, found %s", quoted(s))
	}
	if int64(r.per) > int64(maxDuration)/r.scale {
		return rate{}, mistaken("%s has too many decimal places for its period; use fewer", quoted(s))
	}
	r.per *= time.Duration(r.scale)
	return r, nil
}

// span splits s after its leading characters that are in set, spanNot after those
// that are not.
func span(s, set string) (head, rest string) {
	rest = strings.TrimLeft(s, set)
	return s[:len(s)-len(rest)], rest
}

func spanNot(s, set string) (head, rest string) {
	if i := strings.IndexAny(s, set); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}
