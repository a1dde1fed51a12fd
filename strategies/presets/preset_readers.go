package presets

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies/layers"
)

// sdkReader reads as one library does: as most of them, by status and headers,
// but for what it has of its own.
type sdkReader struct {
	// hears is the spellings of hints that it understands.
	hears spellings
	// on, if there are any, is the only statuses whose hints it looks for; upTo, if
	// it is not 0, is the longest hint that it takes, and then 0 is none.
	on   []layers.Statuses
	upTo time.Duration
	// future makes a date that has passed no hint, which to others is a wait of 0,
	// and whole a header with a fraction.
	future, whole bool
	// body makes it classify errors by their body, and not by status.
	body bool
	// strict makes a 200 that is no answer a failure, which is not retried; others
	// take the 14003 in it for one.
	strict bool
	// parses makes a 200 around text that is no JSON a failure of the server, which
	// others take for one of the request.
	parses bool
	// quota makes it look for words about money in the text of errors.
	quota bool
	// trusts makes an answer without a finish marker a whole one to a reader of
	// bodies, as it is to the others.
	trusts bool
	// single makes two answers in one body a failure, which is not retried; others
	// take the first.
	single bool
	// early makes an error event before the first token a failure to be retried.
	early bool
	// streams says that it always asks for streams: whatever fails under a 200 had
	// begun.
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

// retryAfter is the header that most libraries read, in seconds or as a date;
// retryAfterMs is also that in milliseconds. Those in JavaScript take a duration
// for a number too, and misread it (see parseFloat).
var (
	retryAfter   = spelled(wire.ExactSeconds, wire.HeaderSeconds, wire.HeaderDate, wire.HeaderTime, wire.BothSeconds)
	retryAfterMs = retryAfter | spelled(wire.HeaderMillis)
	byParseFloat = retryAfterMs | spelled(wire.HeaderDuration)
)

// parseFloat is what JavaScript's function of that name makes of a duration, as
// seconds: it reads the number at the beginning and not what stands behind it, so
// that 6m0s is six seconds, and 300ms is five minutes.
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
	coded := r.Body == wire.CodeBody && r.Status < 400 // under an error's status it is like any other error
	heard := x.hears>>r.Hint.Spelling&1 != 0 && !coded && (x.on == nil || layers.Among(x.on, r.Status))
	if heard && (x.upTo == 0 || 0 < hint && hint <= x.upTo) {
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

// codeReader is the founding article's: it looks for {"code": 14003} in the body,
// never at the status, and takes any other JSON for an answer. What is none makes
// its parser fail.
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
