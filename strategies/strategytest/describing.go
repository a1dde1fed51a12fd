package strategytest

import (
	"time"

	"herdlab/mockprovider/wire"
)

// Describing is an outcome that describes a window.
func Describing(c wire.Class, limit, remaining int32, reset time.Duration) wire.Outcome {
	return wire.Outcome{Class: c, RetryAfter: wire.NoHint, Limit: limit, Remaining: remaining, Reset: reset}
}
