package strategies

import (
	"time"

	"herdlab/mockprovider/wire"
)

// Backoff computes the waits of a retry loop. If it has a method Validate() error,
// that is called when a stack is built.
type Backoff interface {
	// Delay returns the wait before retry number retry, counted from 0, as the sum
	// of base and jitter, both ≥ 0. A longer hint of the provider may replace base.
	// Prev is used by a Remembering backoff only.
	Delay(c *Call, p Purpose, retry int64, prev time.Duration) (base, jitter time.Duration)
}

// Remembering is a Backoff that needs the wait before the last retry: its prev is
// base + jitter of the previous Delay, 0 at first. For other backoffs prev is always
// 0, which saves one word for each call.
type Remembering interface {
	Backoff
	RemembersPrevious()
}

// Discerning is a Backoff that depends on the class of the failure: For returns the
// backoff to use after a failure of class c.
type Discerning interface {
	Backoff
	For(c wire.Class) Backoff
}

// ValidateBackoff returns the error of b's Validate method, or nil if it has none. A
// layer with a backoff calls it in its Build.
func ValidateBackoff(b Backoff) error {
	if v, ok := b.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}
