package live

import (
	"fmt"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Error is the error of a call without a reply.
type Error struct {
	// Reason is why the strategy stopped, Class the outcome of the last attempt,
	// and Attempts the number of attempts.
	Reason   strategies.Reason
	Class    wire.Class
	Attempts uint32
	// Err is the error of the last attempt; nil if there was none.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	s := fmt.Sprintf("live: the call failed after %d attempts: %v, %v", e.Attempts, e.Reason, e.Class)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the error of the last attempt.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether the last attempt timed out, as in net.Error.
func (e *Error) Timeout() bool { return e.Class == wire.Timeout }

// Temporary reports whether a later call may succeed, as in net.Error.
func (e *Error) Temporary() bool { return e.Class.Transient() }
