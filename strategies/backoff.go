package strategies

import (
	"time"

	"herdlab/mockprovider/wire"
)

// Backoff is how long a retry loop waits. One that has a method
// Validate() error is asked for its opinion when a stack is built.
type Backoff interface {
	// Delay returns the wait before retry number retry, counted from 0, as a
	// base that a provider's longer hint may replace and the jitter on top of
	// it, both ≥ 0. prev is for a Remembering backoff.
	Delay(c *Call, p Purpose, retry int64, prev time.Duration) (base, jitter time.Duration)
}

// Remembering is a Backoff that needs the wait before the last retry: it is
// told base + jitter of its last answer as prev, 0 at first. Others are always
// told 0 and cost a call one word less.
type Remembering interface {
	Backoff
	RemembersPrevious()
}

// Discerning is a Backoff that depends on why an attempt has failed: For
// returns the one to ask.
type Discerning interface {
	Backoff
	For(c wire.Class) Backoff
}

// ValidateBackoff calls the Validate method of b, if it has one. A layer that has a
// backoff calls it when its stack is built.
func ValidateBackoff(b Backoff) error {
	if v, ok := b.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}
