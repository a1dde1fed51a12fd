package layers

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// A budget bounds how many extra attempts there are beside the first attempts of
// calls, over all who share it. It is an immutable program whose memory are its
// words.
//
// Outside the loop whose retries it bounds, a budget decides at schedule time:
// when an attempt has failed and the loop has decided to wait for another, which
// is when the libraries of the field do; a call that may not retry ends then.
// Inside the loop it decides at send time, after the wait. The first counts what
// is waited for, the second only what is under way, and where the count is the
// limit the answers differ. Either way an attempt is charged once.
type budget interface {
	// began hears that a call begins.
	began(now time.Duration, c *strategies.Call)
	// allow is asked before an extra attempt, which follows a failure of that
	// class, and returns what it costs; false refuses it.
	allow(now time.Duration, c *strategies.Call, class wire.Class) (cost int64, ok bool)
	// waited hears that an extra attempt is waited for no more: it is sent, or the
	// call is over.
	waited(c *strategies.Call)
	// update hears how an attempt ended that the call had been charged so much
	// for; 0 if it was the first.
	ended(c *strategies.Call, o *wire.Outcome, charged int64)
	// over hears that the call is settled, and what it had been charged for an
	// attempt of whose end nobody heard.
	over(c *strategies.Call, charged int64)
}

// The word that a budgeted call has: these bits, the class of its latest failure
// above them, and what its latest attempt was charged.
const (
	budgetActive  = 1 << iota // the budget has heard that it began
	budgetGranted             // an extra attempt is allowed and has not been sent

	budgetClass = 2 // how far up the class stands
	budgetCost  = 8 // and the cost
)

// budgeted is the layer of a budget.
type budgeted struct {
	inner  strategies.Strategy
	budget budget
	own    strategies.Slot
}

// withBudget wraps p around inner.
func withBudget(b *strategies.Build, p budget, inner strategies.Strategy) (strategies.Strategy, error) {
	own, err := b.Reserve(strategies.PerCall, 1, "")
	return &budgeted{inner, p, own}, err
}

// Next implements Strategy.
func (g *budgeted) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	own := c.Word(g.own, 0)
	tried := e.Terminal() && e.Kind != strategies.Settled
	switch {
	case tried:
		*own = *own&^(1<<budgetCost-1<<budgetClass) | int64(e.Outcome.Class)<<budgetClass
		g.budget.ended(c, e.Outcome, *own>>budgetCost)
		*own &= 1<<budgetCost - 1
	case e.Kind == strategies.Begin:
		if *own&budgetActive == 0 {
			*own |= budgetActive
			g.budget.began(now, c)
		}
		// An attempt that the loop outside begins, for a call that has made some?
		if c.Attempts > 0 && !g.grant(now, c, own) {
			*own &^= budgetActive
			g.budget.over(c, 0)
			return spent(own)
		}
	}
	d := g.inner.Next(now, c, e)
	if tried && c.InFlight == 0 && d.Kind != strategies.Idle && !d.Settles() && !g.grant(now, c, own) {
		d = strategies.Unwind(g.inner, now, c, spent(own)) // the loop inside would go on
	}
	if (d.Kind == strategies.Send || d.Settles()) && *own&budgetGranted != 0 {
		*own &^= budgetGranted
		g.budget.waited(c)
	}
	if d.Settles() && *own&budgetActive != 0 {
		*own &^= budgetActive
		g.budget.over(c, *own>>budgetCost)
	}
	return d
}

// grant charges the call for an extra attempt, if the budget allows it.
func (g *budgeted) grant(now time.Duration, c *strategies.Call, own *int64) bool {
	cost, ok := g.budget.allow(now, c, failure(own))
	if ok {
		*own = *own&(1<<budgetCost-1) | budgetGranted | cost<<budgetCost
	}
	return ok
}

// spent settles a call that may not retry.
func spent(own *int64) strategies.Decision {
	return strategies.StopWith(strategies.BudgetSpent, failure(own))
}

// failure is the class of the latest failure that a budgeted call knows of.
func failure(own *int64) wire.Class {
	if c := wire.Class(*own >> budgetClass & (1<<(budgetCost-budgetClass) - 1)); c != wire.OK {
		return c
	}
	return wire.Overloaded // another runner of a race has failed, or none has yet
}

// unmoved is a budget that what happens leaves as it is.
type unmoved struct{}

func (unmoved) began(time.Duration, *strategies.Call)        {}
func (unmoved) waited(*strategies.Call)                      {}
func (unmoved) ended(*strategies.Call, *wire.Outcome, int64) {}
func (unmoved) over(*strategies.Call, int64)                 {}
