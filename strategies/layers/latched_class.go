package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// LatchedClass is a known mistake, to be studied and not used: a classifier that
// takes the class of the first failure and reports it for all later failures. When
// lack of capacity becomes a 403 because the token has expired, a loop outside
// retries for ever; a classifier that looks at each reply stops at the first 403.
type LatchedClass struct {
	// Scope sets which calls share the first class, PerCall or wider. Name
	// identifies it with the scope PerEveryone.
	Scope strategies.Scope `about:"Which calls share the first class."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (l LatchedClass) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if l.Scope != strategies.PerCall {
		if err := l.Scope.CheckShared(l.Name); err != nil {
			return nil, fmt.Errorf("latched class: %w", err)
		}
	}
	s, err := b.Reserve(l.Scope, 1, "latched class "+l.Name)
	if err != nil {
		return nil, err
	}
	return &latchedClass{inner, s}, nil
}

type latchedClass struct {
	inner strategies.Strategy
	first strategies.Slot // the class of the first failure; 0, which is OK, for none yet
}

// Next implements Strategy.
func (l *latchedClass) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	d := l.inner.Next(now, c, e)
	if d.Kind == strategies.Stop && d.End.Reason == strategies.Failed && d.End.Class != wire.Cancelled {
		first := c.Word(l.first, 0)
		if *first == 0 {
			*first = int64(d.End.Class)
		}
		d.End.Class = wire.Class(*first)
	}
	return d
}
