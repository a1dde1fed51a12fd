package dialect

import (
	"strings"
	"time"
)

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
