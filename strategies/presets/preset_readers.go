package presets

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies/layers"
)

// sdkReader reads replies as a client library does. The zero value reads status and
// headers, as most libraries do, but no hint; the fields are the differences between
// libraries.
type sdkReader struct {
	// hints are the spellings of hints that the library reads.
	hints spellings
	// on are the statuses whose hints are read, all if it is nil. upTo is the longest
	// hint that is used; if it is set, a hint of 0 is ignored too. 0 means no bound.
	on   []layers.Statuses
	upTo time.Duration
	// future ignores a date in the past, which other libraries read as 0 s. whole
	// ignores a header with a fraction of a second.
	future, whole bool
	// body classifies errors by their body instead of their status.
	body bool
	// strict makes a 14003 with status 200 a failure that is not retried; other
	// libraries read it as an answer.
	strict bool
	// parses makes invalid JSON with status 200 a server error; other libraries read
	// it as a bad request.
	parses bool
	// quota makes an error whose text mentions quota a quota failure.
	quota bool
	// trusts makes an answer without a finish marker a success, also with body.
	trusts bool
	// single makes two answers in one body a failure that is not retried; other
	// libraries read the first.
	single bool
	// early makes an error event before the first token a failure that is retried.
	early bool
	// streams means that all requests are for streams: a failure with status 200 is a
	// stream that had begun.
	streams bool
}

// spellings is a set of ways to write a hint.
type spellings uint16

func spelled(all ...wire.Spelling) spellings {
	var s spellings
	for _, w := range all {
		s |= 1 << w
	}
	return s
}

// retryAfter are the spellings of the header that most libraries read, in seconds or
// as a date. retryAfterMs adds the header in milliseconds. byParseFloat adds durations,
// which libraries in JavaScript read as numbers (see parseFloat).
var (
	retryAfter   = spelled(wire.ExactSeconds, wire.HeaderSeconds, wire.HeaderDate, wire.HeaderTime, wire.BothSeconds)
	retryAfterMs = retryAfter | spelled(wire.HeaderMillis)
	byParseFloat = retryAfterMs | spelled(wire.HeaderDuration)
)

// parseFloat returns the value that JavaScript's parseFloat reads from the text of a
// duration, as seconds. It reads the number at the beginning and ignores the unit:
// 6m0s is six seconds, and 300ms is five minutes.
func parseFloat(d time.Duration) time.Duration {
	switch {
	case d >= time.Hour:
		return d / time.Hour * time.Second
	case d >= time.Minute:
		return d / time.Minute * time.Second
	case d >= time.Second:
		return d
	case d >= time.Millisecond:
		return d * (time.Second / time.Millisecond)
	case d >= time.Microsecond:
		return d * (time.Second / time.Microsecond)
	}
	return d * time.Second
}

// Read implements wire.Reader.
func (x sdkReader) Read(r *wire.Reply, clock time.Duration, o *wire.Outcome) {
	wire.ByBody{}.Read(r, clock, o)
	hint := o.RetryAfter
	switch {
	case hint == wire.NoHint:
	case r.Hint.Spelling == wire.HeaderDuration:
		hint = parseFloat(hint)
	case x.future && r.Hint.Spelling.Dated() && r.Hint.Value < clock, x.whole && r.Hint.Spelling == wire.ExactSeconds && hint%time.Second != 0:
		hint = wire.NoHint
	}
	if !x.body {
		wire.ByLibrary{}.Read(r, clock, o)
	}
	o.RetryAfter = wire.NoHint
	coded := r.Body == wire.CodeBody && r.Status < 400 // with an error status it is an ordinary error
	read := x.hints>>r.Hint.Spelling&1 != 0 && !coded && (x.on == nil || layers.Among(x.on, r.Status))
	if read && (x.upTo == 0 || 0 < hint && hint <= x.upTo) {
		o.RetryAfter = hint
	}
	switch {
	case coded && x.strict:
		o.Class = wire.BadRequest
	case coded:
		o.Class = wire.OK
	case x.parses && (r.Body == wire.Garbage || r.Body == wire.WrongType):
		o.Class = wire.ServerError
	case x.quota && r.Words&wire.MentionsQuota != 0:
		o.Class = wire.Quota
	case x.trusts && r.Body == wire.SilentEnd:
		o.Class = wire.OK
	case x.single && r.Body == wire.Doubled:
		o.Class = wire.BadRequest
	case x.early && r.Body == wire.StreamError && r.Tokens == 0:
		o.Class = wire.ServerError
	}
	o.Begun = o.Begun || x.streams && o.Status < 400 && o.Class != wire.OK
}

// codeReader is the reader of the reference article on 14003: it looks for
// {"code": 14003} in the body, ignores the status and reads any other JSON as an
// answer. Anything else is a parse error, which is not retried.
type codeReader struct{}

// Read implements wire.Reader.
func (codeReader) Read(r *wire.Reply, clock time.Duration, o *wire.Outcome) {
	wire.ByBody{}.Read(r, clock, o)
	switch {
	case r.Body == wire.CodeBody && r.Code == wire.Code14003:
		o.Class = wire.Rate
		return
	case r.Body == wire.Garbage || r.Body == wire.WrongType || r.Body == wire.TruncatedBody:
		o.Class = wire.BadRequest
	default:
		o.Class = wire.OK
	}
	o.RetryAfter = wire.NoHint
}
