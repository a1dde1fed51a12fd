package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Deadline settles a call with DeadlinePassed when its time is over, or as soon as
// it is certain that its next attempt would come too late: an attempt gets at most
// the time that remains, a wait that would end later is not begun, and a place in a
// line is given up. So the provider does no work for a caller that has stopped
// waiting.
//
// Use it as the outermost layer wherever a caller waits for the answer. Inside a
// loop it bounds the same time, because the time runs from the arrival of the call.
type Deadline struct {
	// Within is how long after the arrival of the call its answer must be there; it
	// must be positive.
	Within time.Duration `required:"30s" about:"How long after the call arrived its answer must be there."`
	// Least is how much time must remain for an attempt to be sent, at most Within;
	// 0 means any.
	Least time.Duration `default:"0s" about:"How much time must be left for an attempt to be sent."`
}

// Build implements Layer.
func (d Deadline) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if d.Within <= 0 || d.Least < 0 || d.Least > d.Within {
		return nil, fmt.Errorf("deadline: within must be positive and least 0 to within, not %v and %v", d.Within, d.Least)
	}
	waiting, err := b.Waiting("deadline")
	return &deadline{inner, waiting, b.Races(), d.Within, max(d.Least, 1)}, err
}

type deadline struct {
	inner         strategies.Strategy
	waiting       strategies.Waiting // set while the call waits in line and the timer belongs to the deadline
	races         bool               // a race inside has already counted the attempts that it sends
	within, least time.Duration
}

// Next implements Strategy.
func (g *deadline) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	until := saturating.Add(c.Born, g.within)
	late := now > until-g.least
	switch e.Kind {
	case strategies.Begin:
		if late {
			return strategies.StopWith(strategies.DeadlinePassed, wire.Timeout)
		}
	case strategies.Wake:
		queued := g.waiting.In(c)
		g.waiting.Clear(c)
		if queued || late && c.InFlight == 0 {
			if queued {
				c.Leave()
			}
			return strategies.Unwind(g.inner, now, c, strategies.StopWith(strategies.DeadlinePassed, wire.Timeout))
		}
	case strategies.Admitted, strategies.Cancelled:
		g.waiting.Clear(c)
	}
	d := g.inner.Next(now, c, e)
	switch d.Kind {
	case strategies.Send:
		if late && !g.races {
			return strategies.Unwind(g.inner, now, c, g.passed(e))
		}
		d.After = within(d.After, max(1, until-now))
	case strategies.Wait:
		if d.After > until-g.least-now && c.InFlight == 0 {
			return strategies.Unwind(g.inner, now, c, g.passed(e))
		}
	case strategies.Acquire, strategies.Join:
		at := max(until-g.least, now)
		if g.races || c.WakesBy(at) {
			break
		}
		if d.Kind == strategies.Acquire {
			g.waiting.Set(c)
		} else {
			at++ // at that time the call is late, and there is no line to leave
		}
		c.WakeAt(at)
	}
	return d
}

// passed returns the decision that settles a call whose time is over, with the
// class of its last failure, if it had one.
func (g *deadline) passed(e strategies.Event) strategies.Decision {
	if e.Terminal() {
		return strategies.StopWith(strategies.DeadlinePassed, e.Outcome.Class)
	}
	return strategies.StopWith(strategies.DeadlinePassed, wire.Timeout)
}
