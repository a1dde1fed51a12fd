package dialect

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// waitPrefixes are the words before a wait in a message.
var waitPrefixes = []string{"try again in ", "retry in ", "retry after ", "try again after "}

// parseSentence returns the wait in a message such as "Please try again in
// 1m2.5s." or "Please retry after 17 seconds."
func parseSentence(message string) (time.Duration, bool) {
	message = strings.ToLower(message)
	for _, lead := range waitPrefixes {
		for rest := message; ; {
			_, after, found := strings.Cut(rest, lead)
			if !found {
				break
			}
			if wait, ok := parseSpan(after); ok {
				return wait, true
			}
			rest = after
		}
	}
	return 0, false
}

// units are the units in messages, in any length.
var units = []struct {
	name string
	unit time.Duration
}{
	{"milliseconds", time.Millisecond}, {"millisecond", time.Millisecond}, {"ms", time.Millisecond},
	{"seconds", time.Second}, {"second", time.Second}, {"secs", time.Second}, {"sec", time.Second}, {"s", time.Second},
	{"minutes", time.Minute}, {"minute", time.Minute}, {"mins", time.Minute}, {"min", time.Minute}, {"m", time.Minute},
	{"hours", time.Hour}, {"hour", time.Hour}, {"h", time.Hour},
	{"days", 24 * time.Hour}, {"day", 24 * time.Hour}, {"d", 24 * time.Hour},
}

// parseSpan reads consecutive numbers with units, such as 1m2.5s.
func parseSpan(s string) (total time.Duration, ok bool) {
	for {
		n := 0
		for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
			n++
		}
		digits, rest := s[:n], strings.TrimLeft(s[n:], " ")
		letters := 0
		for letters < len(rest) && rest[letters] >= 'a' && rest[letters] <= 'z' {
			letters++
		}
		unit := time.Duration(0)
		for _, u := range units {
			if u.name == rest[:letters] {
				unit = u.unit
			}
		}
		wait, fine := parseDecimal(digits, max(unit, 1))
		if unit == 0 || !fine {
			return total, ok
		}
		total, ok = min(maxWait, total+wait), true
		s = strings.TrimLeft(rest[letters:], " ")
	}
}

// parseDecimal reads digits with an optional fraction, in the given unit,
// rounded up to the nanosecond and limited to maxWait. It accepts no sign,
// exponent or infinity.
func parseDecimal(s string, unit time.Duration) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	whole, fraction, dotted := strings.Cut(s, ".")
	if whole == "" || dotted && fraction == "" || !isDigits(whole) || !isDigits(fraction) {
		return 0, false
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n >= int64(maxWait/unit) {
		return maxWait, true
	}
	// Each digit of the fraction is worth a tenth of the previous one. A rest below
	// a nanosecond counts as a nanosecond.
	part, scale, more := int64(0), int64(unit), false
	for i := range len(fraction) {
		digit := int64(fraction[i] - '0')
		if scale%10 != 0 || scale < 10 {
			// A tenth of the unit is no whole number of nanoseconds (a minute
			// reaches this at 1e-10): round up.
			more = more || digit != 0
			continue
		}
		scale /= 10
		part += digit * scale
	}
	if more {
		part++
	}
	return time.Duration(n)*unit + time.Duration(part), true
}

// parseNumber reads the same from JSON, where exponents are allowed.
func parseNumber(s string, unit time.Duration) (time.Duration, bool) {
	if wait, ok := parseDecimal(s, unit); ok {
		return wait, true
	}
	x, err := strconv.ParseFloat(s, 64)
	if !strings.ContainsAny(s, "eE") || err != nil || !(x >= 0) {
		return 0, false
	}
	x = math.Ceil(float64(x * float64(unit)))
	if x >= float64(maxWait) {
		return maxWait, true
	}
	return time.Duration(x), true
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// decimal writes d ≥ 0 in the unit, which is a power of ten nanoseconds, with
// as many decimals as needed.
func decimal(d, unit time.Duration) string {
	s := strconv.FormatInt(int64(d/unit), 10)
	if part := d % unit; part > 0 {
		width := len(strconv.FormatInt(int64(unit), 10)) - 1
		digits := strconv.FormatInt(int64(part), 10)
		s += "." + strings.TrimRight(strings.Repeat("0", width-len(digits))+digits, "0")
	}
	return s
}

// ceil returns d ≥ 0 in units, rounded up.
func ceil(d, unit time.Duration) time.Duration {
	n := d / unit
	if d%unit > 0 {
		n++
	}
	return n
}

// roundUp returns d ≥ 0 in whole units, rounded up and cut to maxWait.
func roundUp(d, unit time.Duration) time.Duration {
	if n := ceil(d, unit); n <= maxWait/unit {
		return n * unit
	}
	return maxWait
}

func ceilSecond(t time.Time) time.Time {
	if t.Nanosecond() > 0 {
		return t.Truncate(time.Second).Add(time.Second)
	}
	return t
}

// httpDate is the form of dates that RFC 9110 requires.
const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"

// dateForms are the accepted forms of dates: the three of RFC 9110, and RFC
// 3339. The zone is literal, because Go's layouts take any abbreviation for
// UTC.
var dateForms = []string{httpDate, "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC, time.RFC3339Nano}

// parseDate reads a date in a header. It reports false if the date is malformed
// or after the year 9999.
func parseDate(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	for _, form := range dateForms {
		if t, err := time.Parse(form, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// since returns the time at t of a clock that shows 0 at the Unix time epoch.
func since(t time.Time, epoch int64) (time.Duration, bool) {
	sec := t.Unix() - epoch
	if limit := int64(maxWait / time.Second); sec <= -limit || sec >= limit {
		return 0, false
	}
	d := time.Duration(sec)*time.Second + time.Duration(t.Nanosecond())
	if d == -1 {
		d = 0 // -1 means no hint
	}
	return d, true
}
