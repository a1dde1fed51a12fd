package dialect

import (
	"strconv"
	"strings"
	"time"

	"herdlab/mockprovider/wire"
)

// limits describes the headers about a limit. The zero limits sends no such
// headers.
type limits struct {
	// requests and tokens are the headers of the limits on requests and on
	// tokens. If tokens is empty, requests is used for both.
	requests, tokens limitHeaders
	// input and output are sent in addition to tokens if only the tokens of
	// prompts, or of answers, are counted. They may be empty.
	input, output limitHeaders
	// reset is the form of the time of the reset.
	reset resetForm
	// inBody is true if bodies of business codes contain limits, onCode if the
	// headers are also sent with business codes.
	inBody, onCode bool
}

// limitHeaders are the names of three headers, each of which may be empty.
type limitHeaders struct{ limit, remaining, reset string }

// resetForm is the form in which a reset is written.
type resetForm uint8

const (
	goDuration   resetForm = iota // 6m0s, 12ms
	deltaSeconds                  // 30
	rfc3339                       // 2026-12-01T00:00:00Z
	epochSeconds                  // 1796040000
	epochMillis                   // 1796040000000
)

// isTime reports whether f writes a time and not a wait.
func (f resetForm) isTime() bool { return f >= rfc3339 }

// marks returns the marks of replies with such a body.
func (l *limits) marks(body wire.Body) (m wire.Marks) {
	if body == wire.CodeBody && !l.onCode {
		m = wire.HidesReset
		if !l.inBody {
			m |= wire.HidesLimit
		}
		return m
	}
	if l.requests.limit == "" {
		m |= wire.HidesLimit
	}
	switch {
	case l.requests.reset == "":
		m |= wire.HidesReset
	case l.reset.isTime():
		m |= wire.ResetAsTime
	}
	return m
}

// uses reports whether one of its headers has that name.
func (l *limits) uses(name string) bool {
	return strings.EqualFold(l.requests.reset, name) || strings.EqualFold(l.tokens.reset, name)
}

// write writes the headers about the limit of r.
func (l *limits) write(r *wire.Reply, c *Context, h *Headers) {
	if r.Body == wire.CodeBody && !l.onCode {
		return // only the body can have them
	}
	if l.tokens.limit == "" || r.Class != wire.TokenRate && !(r.Class == wire.OK && c.TokenLimit) {
		l.writeHeaders(&l.requests, r, c, h)
		return
	}
	l.writeHeaders(&l.tokens, r, c, h)
	switch c.Tokens {
	case InputTokens:
		l.writeHeaders(&l.input, r, c, h)
	case OutputTokens:
		l.writeHeaders(&l.output, r, c, h)
	}
}

// writeHeaders writes the headers with the given names.
func (l *limits) writeHeaders(names *limitHeaders, r *wire.Reply, c *Context, h *Headers) {
	if r.Marks&wire.HidesLimit == 0 && (r.Limit != 0 || r.Remaining != 0) && names.limit != "" {
		h.add(names.limit, strconv.Itoa(int(r.Limit)))
		if names.remaining != "" {
			h.add(names.remaining, strconv.Itoa(int(r.Remaining)))
		}
	}
	if r.Marks&wire.HidesReset == 0 && r.Reset != 0 && names.reset != "" {
		h.add(names.reset, l.reset.write(r, c))
	}
}

// write returns the reset of r, converted between wait and time if needed.
func (f resetForm) write(r *wire.Reply, c *Context) string {
	at, isTime := r.Reset, r.Marks&wire.ResetAsTime != 0
	switch {
	case f.isTime() && !isTime:
		at = min(at, maxWait-max(0, c.Now)) + c.Now
	case !f.isTime() && isTime:
		at = max(0, at-c.Now)
	}
	switch f {
	case goDuration:
		return at.String()
	case deltaSeconds:
		return decimal(max(0, at), time.Second)
	}
	t := time.Unix(c.Epoch, 0).Add(at).UTC()
	switch f {
	case epochSeconds:
		return decimalTime(t.Unix(), t.Nanosecond(), 9)
	case epochMillis:
		return decimalTime(t.UnixMilli(), t.Nanosecond()%1e6, 6)
	}
	return t.Format(time.RFC3339Nano)
}

// decimalTime returns n and a fraction of width digits as a decimal number.
func decimalTime(n int64, fraction, width int) string {
	s := strconv.FormatInt(n, 10)
	if fraction == 0 {
		return s
	}
	digits := strconv.Itoa(fraction)
	return s + "." + strings.TrimRight(strings.Repeat("0", width-len(digits))+digits, "0")
}

// read reads the headers: of the limit on tokens if r shows wire.TokenRate,
// else of the limit on requests; if these are absent, those of the other limit.
func (l *limits) read(header func(string) string, epoch int64, r *wire.Reply) {
	if header == nil || r.Body == wire.CodeBody && !l.onCode {
		return
	}
	first, second := &l.requests, &l.tokens
	if r.Shown == wire.TokenRate && second.limit != "" {
		first, second = second, first
	}
	if !l.readHeaders(first, header, epoch, r) {
		l.readHeaders(second, header, epoch, r)
	}
}

// readHeaders reads the headers with the given names and reports whether one
// was found.
func (l *limits) readHeaders(names *limitHeaders, header func(string) string, epoch int64, r *wire.Reply) (found bool) {
	get := func(name string) string {
		if name == "" {
			return ""
		}
		return strings.TrimSpace(header(name))
	}
	if n, ok := parseCount(get(names.limit)); ok {
		r.Limit, found = n, true
	}
	if n, ok := parseCount(get(names.remaining)); ok {
		r.Remaining, found = n, true
	}
	if reset, dated, ok := parseReset(get(names.reset), l.reset, epoch); ok && reset != 0 {
		if r.Reset, found = reset, true; dated {
			r.Marks |= wire.ResetAsTime
		}
	}
	return found
}

// parseCount reads a number of requests or tokens, limited to the range of
// int32.
func parseCount(s string) (int32, bool) {
	if s == "" || !isDigits(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		n = 1<<31 - 1
	}
	return int32(n), true
}

// parseReset reads a reset in the given form or, if it cannot have that form,
// by its size: a number from 1e9 on is a Unix time in seconds, one from 1e12 on
// a Unix time in milliseconds, a smaller one a wait in seconds.
func parseReset(s string, form resetForm, epoch int64) (reset time.Duration, dated, ok bool) {
	if s == "" || len(s) > 64 {
		return 0, false, false
	}
	if form == goDuration && !isDigits(s[len(s)-1:]) {
		d, err := time.ParseDuration(s)
		return min(d, maxWait), false, err == nil && d >= 0
	}
	if form == rfc3339 {
		t, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return 0, false, false
		}
		d, ok := since(t, epoch)
		return d, true, ok
	}
	whole, fraction, _ := strings.Cut(s, ".")
	if len(whole) < 10 || !isDigits(whole) || !isDigits(fraction) {
		d, ok := parseDecimal(s, time.Second)
		return d, false, ok
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return 0, false, false
	}
	unit := time.Second
	if n >= 1e12 {
		unit = time.Millisecond
	}
	part, _ := parseDecimal("0."+fraction+"0", unit)
	t := time.Unix(n, int64(part))
	if unit == time.Millisecond {
		t = time.UnixMilli(n).Add(part)
	}
	d, ok := since(t, epoch)
	return d, true, ok
}
