package strategies

import (
	"fmt"
	"time"
)

// Guard is a layer that may delay, refuse or answer a call before the layers
// inside begin. Implement it and wrap it with Build.Guard; the wrapper delivers
// events in the right order.
//
// A Stop by a guard settles the call: a Retry outside passes it on, because a new
// attempt would be refused again. A guard that wants the call to try again later
// returns Wait.
type Guard interface {
	// Admit is called before the layers inside begin, and again after each Wait
	// it returned. Idle admits the call; Wait, Acquire, Answer and Stop are passed
	// to the driver. When the units of an Acquire are granted, the call is admitted
	// without another Admit.
	Admit(now time.Duration, c *Call) Decision
	// Observe is called when an admitted call leaves the layers inside: d is the
	// Stop or the Answer that is passed to the layer outside, e the event that
	// caused it.
	Observe(now time.Duration, c *Call, e Event, d Decision)
}

// Guard wraps g around inner.
func (b *Build) Guard(g Guard, inner Strategy) (Strategy, error) {
	waiting, err := b.Waiting(fmt.Sprintf("%T", g))
	return &guarded{g, inner, waiting}, err
}

type guarded struct {
	guard   Guard
	inner   Strategy
	waiting Waiting // set while the call waits in the guard
}

// Next implements Strategy.
func (g *guarded) Next(now time.Duration, c *Call, e Event) Decision {
	switch e.Kind {
	case Begin:
		return g.admit(now, c)
	case Wake:
		if g.waiting.In(c) {
			return g.admit(now, c)
		}
	case Admitted:
		if g.waiting.In(c) {
			g.waiting.Clear(c)
			e = Event{Kind: Begin}
		}
	case Cancelled:
		if g.waiting.In(c) { // the layers inside have not begun
			g.waiting.Clear(c)
			return StopCancelled()
		}
	}
	d := g.inner.Next(now, c, e)
	if d.Settles() {
		g.guard.Observe(now, c, e, d)
	}
	return d
}

func (g *guarded) admit(now time.Duration, c *Call) Decision {
	d := g.guard.Admit(now, c)
	switch d.Kind {
	case Acquire:
		if !c.TryTake(d.Take) {
			g.waiting.Set(c)
			return d
		}
		fallthrough
	case Idle:
		g.waiting.Clear(c)
		d = g.inner.Next(now, c, Event{Kind: Begin})
		if d.Settles() {
			g.guard.Observe(now, c, Event{Kind: Begin}, d)
		}
	case Wait:
		g.waiting.Set(c)
	default:
		g.waiting.Clear(c)
	}
	return d
}
