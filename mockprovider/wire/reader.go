package wire

import "time"

// A Reader says what a client can know from a reply. It returns facts; what
// to do about them is the strategy's business.
type Reader interface {
	// Read fills in o from r, for a client whose own clock shows clock: dates
	// and reset times are read against that, be it right or wrong. It writes in
	// place because it is called for every reply of a simulation.
	Read(r *Reply, clock time.Duration, o *Outcome)
}

// hint is the wait that r asks of a client whose clock shows clock. A time that
// has passed by then is no wait.
func hint(r *Reply, clock time.Duration) time.Duration {
	if r.RetryAt > 0 && r.RetryAfter == NoHint {
		return max(0, r.RetryAt-clock)
	}
	return r.RetryAfter
}

// ByBody reads the whole reply: status, business code and hints. It always
// finds the provider's true class.
type ByBody struct{}

// Read implements Reader.
func (ByBody) Read(r *Reply, clock time.Duration, o *Outcome) {
	o.RetryAfter, o.Code, o.Limit, o.Remaining = hint(r, clock), r.Code, r.Limit, r.Remaining
	o.Status, o.Class = r.Status, r.Class
}

// ByStatus looks at the HTTP status and its headers alone, as most retry code
// does. It takes 200 for success whatever the body says, and sees no hint that
// is only in a body.
type ByStatus struct{}

// Read implements Reader.
func (ByStatus) Read(r *Reply, clock time.Duration, o *Outcome) {
	*o = Outcome{RetryAfter: hint(r, clock), Status: r.Status, Class: classOfStatus(r.Status)}
	if r.Body == CodeBody {
		o.RetryAfter = NoHint
	}
}

// classOfStatus is what RFC 9110 and common use say of a status.
func classOfStatus(status uint16) Class {
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
