package strategies

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// Loop is a layer that owns what is inside it: when that stops, the loop may
// begin it afresh. Implement it and wrap it with Build.Loop.
type Loop interface {
	// Start resets the loop's words; what is inside is about to begin for the
	// first time.
	Start(now time.Duration, c *Call)
	// After hears that what is inside has stopped: d is its Stop, e the event
	// that caused it. A Wait begins it afresh after that time; anything else
	// goes on to the layer outside, as a rule d itself. It is not asked about a
	// Stop of class wire.Cancelled.
	After(now time.Duration, c *Call, e Event, d Decision) Decision
}

// Loop wraps l around inner.
func (b *Build) Loop(l Loop, inner Strategy) (Strategy, error) {
	waiting, err := b.Waiting(fmt.Sprintf("%T", l))
	return &looped{l, inner, waiting}, err
}

type looped struct {
	loop    Loop
	inner   Strategy
	waiting Waiting // set between two beginnings of what is inside
}

// Next implements Strategy.
func (l *looped) Next(now time.Duration, c *Call, e Event) Decision {
	switch e.Kind {
	case Begin:
		l.waiting.Clear(c)
		l.loop.Start(now, c)
	case Wake:
		if l.waiting.In(c) {
			l.waiting.Clear(c)
			e = Event{Kind: Begin}
		}
	case Cancelled:
		if l.waiting.In(c) {
			l.waiting.Clear(c)
			return StopCancelled()
		}
	}
	d := l.inner.Next(now, c, e)
	// What somebody has given up, the call or its last attempt, is not begun
	// afresh.
	if d.Kind == Stop && d.End.Class != wire.Cancelled {
		d = l.loop.After(now, c, e, d)
		if d.Kind == Wait {
			l.waiting.Set(c)
		}
	}
	return d
}
