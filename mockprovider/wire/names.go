package wire

// Names returns the name of each class, as files spell it, and its meaning.
func (Class) Names() [][2]string {
	return [][2]string{
		OK:             {"ok", "a useful answer"},
		Rate:           {"rate", "more requests than the caller's limit allows"},
		TokenRate:      {"token_rate", "more tokens than the caller's limit allows"},
		Concurrency:    {"concurrency", "more requests in flight than the caller may have"},
		Acceleration:   {"acceleration", "the caller's traffic grew too fast"},
		Overloaded:     {"overloaded", "the provider is at capacity or out of service"},
		Quota:          {"quota", "the caller's money or daily allowance is spent"},
		Auth:           {"auth", "the key is not valid"},
		Permission:     {"permission", "the key is valid but may not do this"},
		BadRequest:     {"bad_request", "the request can never succeed"},
		TooLarge:       {"too_large", "the request exceeds what the model takes"},
		ServerError:    {"server_error", "the provider failed"},
		Timeout:        {"timeout", "the client stopped waiting"},
		ConnectionLost: {"disconnected", "the connection was lost before the answer was complete"},
		Cancelled:      {"cancelled", "the caller cancelled the call"},
	}
}

// Names returns the name of each spelling, as files spell it, and its meaning.
func (Spelling) Names() [][2]string {
	return [][2]string{
		ExactSeconds:   {"usual", "as the provider's dialect writes it"},
		HeaderSeconds:  {"seconds", "Retry-After: 3"},
		HeaderMillis:   {"millis", "retry-after-ms: 1234"},
		HeaderDate:     {"date", "Retry-After: Wed, 21 Oct 2026 07:28:30 GMT"},
		HeaderTime:     {"time", "the same to the nanosecond, which no real header has"},
		HeaderEpoch:    {"epoch", "X-RateLimit-Reset: 1796040000, and nothing else"},
		HeaderDuration: {"duration", "Retry-After: 6m0s, which is not valid HTTP"},
		BodySeconds:    {"body_seconds", `"retry_after": 2.5 in the body`},
		BodyMillis:     {"body_millis", `"retry_after_ms": 2500 in the body`},
		BodyDelay:      {"body_delay", `"retryDelay": "34.07s" in the body's details`},
		Sentence:       {"sentence", `"Please try again in 1.898s." in the message`},
		BothSeconds:    {"both", "Retry-After: 3, and the same in the body or message"},
		NoPlaceForHint: {"unspeakable", "the reply has no place for a wait, so it states none"},
	}
}

// Names returns the name of each body that a fault may make of an answer, as files
// spell it, and its meaning. The other bodies have no name.
func (Body) Names() [][2]string {
	return [][2]string{
		StreamError:   {"stream_error", "some of the answer, then an error event in the stream"},
		SilentEnd:     {"silent_end", "some of the answer, then a clean end without the finish marker"},
		TruncatedBody: {"cut_body", "some of the answer, then the connection is lost"},
		Garbage:       {"garbage", "a 200 around text that is not JSON"},
		WrongType:     {"wrong_type", "a 200 around an HTML page"},
		Doubled:       {"doubled", "the answer twice in one body"},
	}
}
