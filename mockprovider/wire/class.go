package wire

import "fmt"

// Class is the reason behind a reply: why the provider answered as it did, or
// why no answer came. Classes are what a well-informed client acts on; a
// status code alone does not tell them apart (a spent quota, a full window and
// an overloaded model all arrive as 429 somewhere).
type Class uint8

// The classes, success first.
const (
	OK             Class  = iota // a useful answer
	Rate                         // more requests than the caller's limit allows
	TokenRate                    // more tokens than the caller's limit allows
	Concurrency                  // more requests in flight than the caller may have
	Acceleration                 // the caller's traffic grew too fast
	Overloaded                   // the provider is at capacity or out of service, for all callers
	Quota                        // the caller's money or daily allowance is spent
	Auth                         // the key is not valid
	Permission                   // the key is valid but may not do this
	BadRequest                   // the request can never succeed
	TooLarge                     // the request exceeds what the model takes
	ServerError                  // the provider failed
	Timeout                      // the client stopped waiting
	ConnectionLost               // the connection broke before the answer was complete
	Cancelled                    // the caller withdrew the call
	NumClasses     = iota        // how many classes there are
)

var classNames = [NumClasses]string{
	"ok", "rate", "token_rate", "concurrency", "acceleration", "overloaded", "quota", "auth",
	"permission", "bad_request", "too_large", "server_error", "timeout", "disconnected", "cancelled",
}

// String returns the class's name as result files spell it.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// Transient reports whether waiting can help: whether an identical request may
// succeed later without anybody acting. A spent quota, a bad key, a missing
// permission and a bad request are not transient.
func (c Class) Transient() bool {
	switch c {
	case Rate, TokenRate, Concurrency, Acceleration, Overloaded, ServerError, Timeout, ConnectionLost:
		return true
	}
	return false
}
