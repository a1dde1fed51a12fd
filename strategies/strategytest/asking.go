package strategytest

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Asking is an outermost layer that gives all calls the same demand.
type Asking struct {
	inner  strategies.Strategy
	Demand wire.Demand
}

func (p Asking) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	b.ChangesDemand()
	p.inner = inner
	return p, nil
}

func (p Asking) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	if e.Kind == strategies.Begin {
		c.Demand = p.Demand
	}
	return p.inner.Next(now, c, e)
}
