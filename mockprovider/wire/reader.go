package wire

// A Reader says what a client can know from a reply. It returns facts; what
// to do about them is the strategy's business.
type Reader interface {
	Read(r *Reply) Outcome
}

// ByBody reads the whole reply: status, business code and hints. It always
// finds the provider's true class.
type ByBody struct{}

// Read implements Reader.
func (ByBody) Read(r *Reply) Outcome {
	return Outcome{
		RetryAfter: r.RetryAfter, Code: r.Code, Limit: r.Limit, Remaining: r.Remaining,
		Status: r.Status, Class: r.Class,
	}
}

// ByStatus looks at the HTTP status and its headers alone, as most retry code
// does. It takes 200 for success whatever the body says, and sees no hint that
// is only in a body.
type ByStatus struct{}

// Read implements Reader.
func (ByStatus) Read(r *Reply) Outcome {
	o := Outcome{RetryAfter: r.RetryAfter, Status: r.Status, Class: classOfStatus(r.Status)}
	if r.Body == CodeBody {
		o.RetryAfter = NoHint
	}
	return o
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
