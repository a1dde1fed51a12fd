package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Deadline settles a call with DeadlinePassed once its time is up, or as soon as
// it is clear that what it waits for comes too late: an attempt gets no more than
// the time that is left, a wait that would outlast it is not begun, and a place in
// a line is given up. So no provider works for a caller who has gone.
//
// It is right wherever somebody waits for the answer, as the outermost layer. Put
// inside a loop it bounds the call all the same, for the time runs from when the
// caller asked.
type Deadline struct {
	// Within is how long after the caller asked the answer must be there.
	Within time.Duration `required:"30s" about:"How long after the call arrived its answer must be there."`
	// Least is how much time an attempt must have left to be sent; 0 means any.
	Least time.Duration `default:"0s" about:"How much time must be left for an attempt to be sent."`
}

// Build implements Layer.
func (d Deadline) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if d.Within <= 0 || d.Least < 0 || d.Least > d.Within {
		return nil, fmt.Errorf("deadline: it must be positive, and the least time for an attempt not negative nor longer, not %v and %v", d.Within, d.Least)
	}
	waiting, err := b.Waiting("deadline")
	return &deadline{inner, waiting, b.Races(), d.Within, max(d.Least, 1)}, err
}

type deadline struct {
	inner         strategies.Strategy
	waiting       strategies.Waiting // set while the call stands in line and the timer is ours
	races         bool               // what is inside has accounted for the attempts it sends
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
		standing := g.waiting.In(c)
		g.waiting.Clear(c)
		if standing || late && c.InFlight == 0 {
			if standing {
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
			at++ // by then it is late, and there is no line to leave
		}
		c.WakeAt(at)
	}
	return d
}

// passed settles a call for want of time, with the failure that it would have
// retried, if there is one.
func (g *deadline) passed(e strategies.Event) strategies.Decision {
	if e.Terminal() {
		return strategies.StopWith(strategies.DeadlinePassed, e.Outcome.Class)
	}
	return strategies.StopWith(strategies.DeadlinePassed, wire.Timeout)
}
