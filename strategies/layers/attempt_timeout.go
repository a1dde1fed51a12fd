package layers

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// AttemptTimeout gives every attempt so much time, or less if a layer inside
// says less. It is right everywhere: without one, a provider that goes silent
// keeps its callers for ever. Too short a one is worse than none under overload,
// when answers that took long are thrown away and asked for again.
type AttemptTimeout struct {
	After time.Duration `required:"30s" about:"How long an attempt may take."`
}

// Build implements Layer.
func (t AttemptTimeout) Build(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if t.After <= 0 {
		return nil, fmt.Errorf("attempt timeout: it must be positive, not %v", t.After)
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

// within is the shorter of an attempt's timeout, 0 being none, and limit > 0.
func within(timeout, limit time.Duration) time.Duration {
	if timeout == 0 {
		return limit
	}
	return min(timeout, limit)
}
