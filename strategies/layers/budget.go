package layers

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// A budget bounds the number of extra attempts, in addition to the first attempts,
// of all calls that share it. It is immutable; its memory is in its words.
//
// Outside the loop whose retries it bounds, a budget decides when a retry is
// scheduled, after an attempt has failed and before the wait, as existing libraries
// do; a call that may not retry ends then. Inside the loop it decides when a retry
// is sent, after the wait. The first counts retries that wait, the second only
// attempts in flight, so their results differ for a budget that limits a number at
// a time. In both places an attempt is charged once.
type budget interface {
	// began is called when a call begins.
	began(now time.Duration, c *strategies.Call)
	// allow is called before an extra attempt, which follows a failure of the given
	// class. It returns the cost of the attempt, or false to refuse it.
	allow(now time.Duration, c *strategies.Call, class wire.Class) (cost int64, ok bool)
	// waited is called when the wait for an extra attempt is over: the attempt is
	// sent, or the call has settled.
	waited(c *strategies.Call)
	// ended is called with the outcome of an attempt and what the call was charged
	// for it, 0 for its first attempt.
	ended(c *strategies.Call, o *wire.Outcome, charged int64)
	// over is called when the call has settled, with what it was charged for an
	// attempt whose end was not seen.
	over(c *strategies.Call, charged int64)
}

// The parts of the word of a call: these bits, then the class of its latest
// failure, then what its latest attempt was charged.
const (
	budgetActive  = 1 << iota // the budget has counted the call as begun
	budgetGranted             // an extra attempt is allowed and has not been sent

	budgetClass = 2 // the shift of the class
	budgetCost  = 8 // the shift of the cost
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
		// If the call has made attempts, a loop outside begins another.
		if c.Attempts > 0 && !g.grant(now, c, own) {
			*own &^= budgetActive
			g.budget.over(c, 0)
			return spent(own)
		}
	}
	d := g.inner.Next(now, c, e)
	if tried && c.InFlight == 0 && d.Kind != strategies.Idle && !d.Settles() && !g.grant(now, c, own) {
		d = strategies.Unwind(g.inner, now, c, spent(own)) // the loop inside would retry
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

// spent returns the decision that settles a call that may not retry.
func spent(own *int64) strategies.Decision {
	return strategies.StopWith(strategies.BudgetSpent, failure(own))
}

// failure returns the class of the latest failure in the word of a call.
func failure(own *int64) wire.Class {
	if c := wire.Class(*own >> budgetClass & (1<<(budgetCost-budgetClass) - 1)); c != wire.OK {
		return c
	}
	return wire.Overloaded // no failure in this word: another runner of a race has failed, or none has yet
}

// unmoved implements the methods of a budget that ignores these events.
type unmoved struct{}

func (unmoved) began(time.Duration, *strategies.Call)        {}
func (unmoved) waited(*strategies.Call)                      {}
func (unmoved) ended(*strategies.Call, *wire.Outcome, int64) {}
func (unmoved) over(*strategies.Call, int64)                 {}
