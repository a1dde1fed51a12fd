package dialect

import (
	"strings"
	"time"
)

// httpDate is the form of dates that RFC 9110 asks for.
const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"

// dateForms are the dates that are read: the three of RFC 9110, and RFC 3339.
// The zone is spelled out because Go's layouts take any abbreviation for UTC.
var dateForms = []string{httpDate, "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC, time.RFC3339Nano}

// parseDate reads a date in a header. What is malformed, or in the year 10000,
// is none.
func parseDate(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	for _, form := range dateForms {
		if t, err := time.Parse(form, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// since returns what a clock that shows 0 at the Unix time epoch shows at t.
func since(t time.Time, epoch int64) (time.Duration, bool) {
	sec := t.Unix() - epoch
	if limit := int64(maxWait / time.Second); sec <= -limit || sec >= limit {
		return 0, false
	}
	d := time.Duration(sec)*time.Second + time.Duration(t.Nanosecond())
	if d == -1 {
		d = 0 // -1 means that there is no hint
	}
	return d, true
}
