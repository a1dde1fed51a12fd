package wire

import "time"

// A Reader extracts what a client can know from a reply. It returns facts; what to
// do about them is for the strategy to decide.
type Reader interface {
	// Read fills in o from r, for a client whose own clock shows clock: dates
	// and reset times are read against that, be it right or wrong. It writes in
	// place because it is called for every reply of a simulation.
	Read(r *Reply, clock time.Duration, o *Outcome)
}

// headerWait is the wait that a hint means to a client that does not read bodies,
// and reads headers where the status is an error's.
func headerWait(r *Reply, clock time.Duration) time.Duration {
	if r.Body == CodeBody && r.Status < 400 || !r.Hint.Spelling.InHeader() {
		return NoHint
	}
	return r.Hint.Wait(clock)
}

// copyFacts fills in what every reader sees.
func (o *Outcome) copyFacts(r *Reply, clock time.Duration) {
	o.Reset, o.Limit, o.Remaining = r.Reset, r.Limit, r.Remaining
	o.Tokens, o.Status, o.Begun, o.Marks = r.Tokens, r.Status, r.Body.Begun(), r.Marks
	if r.Marks&formal != 0 {
		o.seen(clock)
	}
}

// seen turns what a reply states in its own form into what a client reads whose
// clock shows clock.
func (o *Outcome) seen(clock time.Duration) {
	switch {
	case o.Marks&HidesReset != 0:
		o.Reset = 0
	case o.Reset != 0 && o.Marks&ResetAsTime != 0:
		o.Reset = max(0, o.Reset-clock)
	}
	if o.Marks&HidesLimit != 0 {
		o.Limit, o.Remaining = 0, 0
	}
	o.Marks &^= formal
}

// ByBody reads the whole reply: status, business code, error events, finish
// markers and hints. It finds whatever the reply shows.
type ByBody struct{}

// Read implements Reader.
func (ByBody) Read(r *Reply, clock time.Duration, o *Outcome) {
	o.copyFacts(r, clock)
	o.RetryAfter, o.Code, o.Class = r.Hint.Wait(clock), r.Code, r.Shown
	if r.Body > StreamError {
		o.Class = spoilt(r.Body)
	}
}

// spoilt is the class of an answer that a fault has spoilt, to a client that notices.
func spoilt(b Body) Class {
	switch b {
	case SilentEnd, TruncatedBody:
		return ConnectionLost
	case Garbage, WrongType:
		return ServerError
	}
	return OK // the answer is there, twice
}

// ByStatus looks at the HTTP status and its headers alone, as most retry code
// does. It takes 200 for success whatever the body is, and sees no hint that
// is only in a body, nor limits that are. A connection that breaks is noticed
// by everybody.
type ByStatus struct{}

// Read implements Reader.
func (ByStatus) Read(r *Reply, clock time.Duration, o *Outcome) {
	byStatus(r, clock, o)
	if r.Body == TruncatedBody {
		o.Class = ConnectionLost
	}
}

func byStatus(r *Reply, clock time.Duration, o *Outcome) {
	o.copyFacts(r, clock)
	o.RetryAfter, o.Code, o.Class = headerWait(r, clock), 0, ClassOfStatus(r.Status)
	if r.Body == CodeBody {
		o.Reset, o.Limit, o.Remaining = 0, 0, 0
	}
}

// ByKeyword reads the text of a reply as log scrapers and the first classifier of
// the reference articles do: "rate limit", "quota" or "permission" against "capacity",
// "overloaded" or "busy". The first group wins where both appear, and any
// keyword beats the status.
type ByKeyword struct{}

// Read implements Reader.
func (ByKeyword) Read(r *Reply, clock time.Duration, o *Outcome) {
	o.copyFacts(r, clock)
	o.RetryAfter, o.Code, o.Class = r.Hint.Wait(clock), r.Code, ClassOfStatus(r.Status)
	if r.Body > StreamError {
		o.Class = spoilt(r.Body)
	}
	switch w := r.Words; {
	case w&MentionsQuota != 0:
		o.Class = Quota
	case w&MentionsPermission != 0:
		o.Class = Permission
	case w&MentionsLimit != 0:
		o.Class = Rate
	case w&MentionsCapacity != 0:
		o.Class = Overloaded
	}
}

// ByLibrary reads as the SDKs of the field do: by status and headers, but it
// parses what it gets. So an error event in a stream and a body that is no JSON
// are failures to it, of no class that is retried; a stream that ends without
// its finish marker, and a 200 around a business code, are successes.
type ByLibrary struct{}

// Read implements Reader.
func (ByLibrary) Read(r *Reply, clock time.Duration, o *Outcome) {
	byStatus(r, clock, o)
	switch r.Body {
	case TruncatedBody:
		o.Class = ConnectionLost
	case StreamError, Garbage, WrongType:
		o.Class = BadRequest
	}
}

// ClassOfStatus returns the class of a status by RFC 9110 and common use.
func ClassOfStatus(status uint16) Class {
	switch {
	case status < 400:
		return OK
	case status == 401:
		return Auth
	case status == 402:
		return Quota
	case status == 403:
		return Permission
	case status == 408 || status == 504:
		return Timeout
	case status == 413:
		return TooLarge
	case status == 429:
		return Rate
	case status == 503 || status == 529:
		return Overloaded
	case status >= 500:
		return ServerError
	default:
		return BadRequest
	}
}
