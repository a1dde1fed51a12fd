package layers

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// AttemptTimeout cancels an attempt that has no answer after After, or after a
// shorter timeout that a layer inside has set. Use it everywhere: without a
// timeout, a provider that stops answering blocks its callers for ever. Under
// overload, a timeout that is too short is worse than none: answers that took long
// are discarded and requested again.
type AttemptTimeout struct {
	// After is how long an attempt may take; it must be positive.
	After time.Duration `required:"30s" about:"How long an attempt may take."`
}

// Build implements Layer.
func (t AttemptTimeout) Build(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if t.After <= 0 {
		return nil, fmt.Errorf("attempt timeout: after must be positive, not %v", t.After)
	}
	return &timedOut{inner, t.After}, nil
}

type timedOut struct {
	inner strategies.Strategy
	after time.Duration
}

// Next implements Strategy.
func (t *timedOut) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	d := t.inner.Next(now, c, e)
	if d.Kind == strategies.Send {
		d.After = within(d.After, t.after)
	}
	return d
}

// within returns the shorter of limit and an attempt's timeout; a timeout of 0
// means none. The limit must be positive.
func within(timeout, limit time.Duration) time.Duration {
	if timeout == 0 {
		return limit
	}
	return min(timeout, limit)
}
