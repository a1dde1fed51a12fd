package dialect

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"herdlab/mockprovider/wire"
)

// maxWait is the longest wait; longer ones are reduced to it. It is 146 years,
// so that the sum of two does not overflow.
const maxWait = time.Duration(1) << 62

// hintFields are the fields of an error body that contain a hint. Each error
// object embeds them, so that a scenario can select any of them; those that are
// not used are left out.
type hintFields struct {
	Seconds number `json:"retry_after,omitempty"`
	Millis  number `json:"retry_after_ms,omitempty"`
	Delay   string `json:"retryDelay,omitempty"`
}

// number is a JSON number, or a string that contains one. Any other value is
// read as absent, because a malformed hint must not make the rest of the error
// unreadable.
type number string

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (n *number) UnmarshalJSON(data []byte) error {
	*n = number(strings.Trim(string(data), `"`))
	return nil
}

// writeHint writes the hint of r to the headers and the fields. It returns the
// sentence to add to the message, which is form with the wait filled in, or "".
func (d *Dialect) writeHint(r *wire.Reply, c *Context, h *Headers, f *hintFields, form string) (sentence string) {
	wait := r.Hint.Value
	if wait == wire.NoHint || !d.hasPlaceFor(r.Hint.Spelling) {
		return ""
	}
	if r.Hint.Spelling.Dated() {
		sec, nsec := c.Epoch+int64(wait/time.Second), int64(wait%time.Second)
		switch at := time.Unix(sec, nsec).UTC(); r.Hint.Spelling {
		case wire.HeaderDate:
			h.add("Retry-After", ceilSecond(at).Format(httpDate))
		case wire.HeaderTime:
			h.add("Retry-After", at.Format(time.RFC3339Nano))
		case wire.HeaderEpoch:
			h.add(epochHeader, strconv.FormatInt(ceilSecond(at).Unix(), 10))
		}
		return ""
	}
	wait = max(0, wait)
	whole := strconv.FormatInt(int64(ceil(wait, time.Second)), 10)
	if d.bothUnits && (r.Hint.Spelling == wire.HeaderSeconds || r.Hint.Spelling == wire.BothSeconds) && wait < maxWait {
		h.add(d.millisName(), whole+"000")
	}
	switch r.Hint.Spelling {
	case wire.ExactSeconds:
		h.add("Retry-After", decimal(wait, time.Second))
	case wire.HeaderSeconds:
		h.add("Retry-After", whole)
	case wire.HeaderDuration:
		h.add("Retry-After", wait.String())
	case wire.HeaderMillis:
		h.add(d.millisName(), strconv.FormatInt(int64(ceil(wait, time.Millisecond)), 10))
	case wire.BodySeconds:
		f.Seconds = number(decimal(wait, time.Second))
	case wire.BodyMillis:
		f.Millis = number(strconv.FormatInt(int64(ceil(wait, time.Millisecond)), 10))
	case wire.BodyDelay:
		f.Delay = decimal(roundUp(wait, time.Millisecond), time.Second) + "s"
	case wire.Sentence:
		return ending(form, decimal(roundUp(wait, time.Millisecond), time.Second))
	case wire.BothSeconds:
		h.add("Retry-After", whole)
		if form != "" {
			return ending(form, whole)
		}
		f.Seconds = number(whole)
	}
	return ""
}

// hasPlaceFor reports whether hints can be written that way. Some dialects use
// the header of a hint for a limit.
func (d *Dialect) hasPlaceFor(s wire.Spelling) bool {
	return s != wire.NoPlaceForHint && !(s == wire.HeaderEpoch && d.limits.uses(epochHeader))
}

// epochHeader is the header of hints that are Unix times.
const epochHeader = "X-RateLimit-Reset"

// ending returns the sentence with the number of seconds; an empty form is a
// usual one.
func ending(form, seconds string) string {
	return " " + strings.Replace(cmp.Or(form, "Please try again in %ss."), "%s", seconds, 1)
}

// millisName returns the name of the header of hints in milliseconds.
func (d *Dialect) millisName() string {
	if d.millisHeader != "" {
		return d.millisHeader
	}
	return "retry-after-ms"
}

// readHint writes the hint of a reply to r: the header with the finest unit
// first, then the body. An invalid hint is ignored.
func (d *Dialect) readHint(in *RawReply, f *findings, epoch int64, r *wire.Reply) {
	r.Hint.Value, r.Hint.Spelling = wire.NoHint, wire.ExactSeconds
	header := func(name string) string { return "" }
	if in.Header != nil {
		header = in.Header
	}
	if wait, ok := parseDecimal(header(d.millisName()), time.Millisecond); ok {
		r.Hint.Value, r.Hint.Spelling = wait, wire.HeaderMillis
		return
	}
	body, spelled := f.hint()
	after := strings.TrimSpace(header("Retry-After"))
	if wait, ok := parseDecimal(after, time.Second); ok {
		switch r.Hint.Value = wait; {
		case strings.Contains(after, "."):
		case body != wire.NoHint:
			r.Hint.Spelling = wire.BothSeconds
		default:
			r.Hint.Spelling = wire.HeaderSeconds
		}
		return
	}
	if wait, err := time.ParseDuration(after); err == nil && wait >= 0 {
		r.Hint.Value, r.Hint.Spelling = min(wait, maxWait), wire.HeaderDuration
		return
	}
	if date, ok := parseDate(after); ok {
		if at, ok := since(date, epoch); ok {
			if r.Hint.Value, r.Hint.Spelling = at, wire.HeaderTime; date.Nanosecond() == 0 {
				r.Hint.Spelling = wire.HeaderDate
			}
			return
		}
	}
	if body != wire.NoHint {
		r.Hint.Value, r.Hint.Spelling = body, spelled
		return
	}
	if f.Failed && d.hasPlaceFor(wire.HeaderEpoch) {
		wait, dated, ok := parseReset(header(epochHeader), epochSeconds, epoch)
		if ok {
			if r.Hint.Value = wait; dated {
				r.Hint.Spelling = wire.HeaderEpoch
			}
		}
	}
}

// hint returns the hint in a body.
func (f *findings) hint() (time.Duration, wire.Spelling) {
	if wait, ok := parseNumber(string(f.Millis), time.Millisecond); ok {
		return wait, wire.BodyMillis
	}
	if wait, ok := parseNumber(string(f.Seconds), time.Second); ok {
		return wait, wire.BodySeconds
	}
	if digits, ok := strings.CutSuffix(f.Delay, "s"); ok {
		if wait, ok := parseDecimal(digits, time.Second); ok {
			return wait, wire.BodyDelay
		}
		if digits, ok = strings.CutSuffix(digits, "m"); ok {
			if wait, ok := parseDecimal(digits, time.Millisecond); ok {
				return wait, wire.BodyDelay
			}
		}
	}
	if wait, ok := parseSentence(f.Message); ok {
		return wait, wire.Sentence
	}
	return wire.NoHint, wire.ExactSeconds
}
