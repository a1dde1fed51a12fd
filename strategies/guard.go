package strategies

import (
	"fmt"
	"time"
)

// Guard is a layer that may only tighten what is inside it. Implement it and
// wrap it with Build.Guard; the wrapper keeps the order of events right.
//
// A call that a guard stops is settled: a Retry outside passes the Stop on, for
// what refused once would refuse again. A guard whose calls are to come back
// lets them Wait.
type Guard interface {
	// Admit is asked before what is inside begins, and again after each Wait
	// it asked for. Idle lets the call in; Wait, Acquire, Answer and Stop do
	// what they say. A call that an Acquire admits is let in without asking.
	Admit(now time.Duration, c *Call) Decision
	// Observe hears how what it let in ended: d is the Stop or the Answer that
	// goes on to the layer outside, e the event that caused it.
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
	waiting Waiting // set while the guard has the call waiting
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
		if g.waiting.In(c) { // nothing inside has begun
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
