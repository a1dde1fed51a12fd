package strategies

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// Loop is a layer that may begin the layers inside it again when they stop.
// Implement it and wrap it with Build.Loop.
type Loop interface {
	// Start resets the loop's words, before the layers inside begin for the first
	// time.
	Start(now time.Duration, c *Call)
	// After is called when the layers inside have stopped: d is their Stop, e the
	// event that caused it. If After returns Wait, they begin again after that
	// time; any other decision is passed to the layer outside, and is usually d.
	// After is not called for a Stop of class wire.Cancelled.
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
	waiting Waiting // set while the call waits for the layers inside to begin again
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
	// A cancelled call or attempt is not retried.
	if d.Kind == Stop && d.End.Class != wire.Cancelled {
		d = l.loop.After(now, c, e, d)
		if d.Kind == Wait {
			l.waiting.Set(c)
		}
	}
	return d
}
