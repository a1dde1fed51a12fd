package strategies

import (
	"time"

	"herdlab/mockprovider/wire"
)

// allAsk is an outermost layer that gives each call a prompt: the same for all.
type Asking struct {
	inner Strategy
	Demand  wire.Demand
}

func (p Asking) Build(b *Build, inner Strategy) (Strategy, error) {
	b.ChangesDemand()
	p.inner = inner
	return p, nil
}

func (p Asking) Next(now time.Duration, c *Call, e Event) Decision {
	if e.Kind == Begin {
		c.Demand = p.Demand
	}
	return p.inner.Next(now, c, e)
}
