package layers_test

import (
	"fmt"
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// bounding is a bound on extra attempts: how many there are at most of a thousand calls
// that fail at once. A share of one is none: a lone call has a bound of its own then.
type bounding struct {
	layer strategies.Layer
	most  int
	lone  strategies.Layer
}

func budgets() []bounding {
	return []bounding{
		{layers.EnvoyBudget{Percent: 20, Scope: strategies.PerFleet}, 200, layers.EnvoyBudget{Percent: 100, Scope: strategies.PerFleet}},
		{layers.FinagleBudget{Percent: 20, MinPerSecond: 10, Scope: strategies.PerFleet}, 200 + 10*10, nil},
		{layers.GRPCBudget{MaxTokens: 10, Ratio: 100, Scope: strategies.PerFleet}, 4, nil},
		{layers.AWSBudget{Capacity: 500, Cost: 5, Scope: strategies.PerFleet}, 500 / 5, nil},
		{layers.BrookerBudget{Size: 5, Deposit: 100, Scope: strategies.PerFleet}, 4, nil},
		{layers.Hedge{After: time.Second, Percent: 5, Scope: strategies.PerFleet}, layers.InHand, nil},
	}
}

// places are the stacks in which a budget may stand: outside the loop that it bounds, or
// inside. A hedge is its own.
func places(budget strategies.Layer) [][]strategies.Layer {
	retry := layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 2}
	if _, hedges := budget.(layers.Hedge); hedges {
		return [][]strategies.Layer{{budget}}
	}
	return [][]strategies.Layer{{budget, retry}, {retry, budget}}
}

// day is a run of calls before one provider, which fails slowly or answers.
type day struct {
	*strategytest.Lab
	calls, extra int
	fails        func(c *strategytest.Caller) bool
}

func newDay(t *testing.T, stack []strategies.Layer) *day {
	d := &day{Lab: strategytest.NewLab(t, stack...)}
	d.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		if c.Attempts > 1 {
			d.extra++
		}
		if d.fails(c) {
			return 2 * time.Second, strategytest.Refused(wire.Overloaded)
		}
		return time.Millisecond, strategytest.Answered
	}
	return d
}

// call has so many calls made, so far apart, and returns how many extra attempts that
// has brought by the end of another minute.
func (d *day) call(n int, apart time.Duration, fails func(*strategytest.Caller) bool) int {
	d.fails, d.extra = fails, 0
	begin := d.Now
	for range n {
		i := d.calls
		d.calls++
		d.At(begin, func() { d.Begin("a", i) })
		begin += apart
	}
	d.Run(begin + time.Minute)
	return d.extra
}

func always(*strategytest.Caller) bool     { return true }
func never(*strategytest.Caller) bool      { return false }
func theFirst(c *strategytest.Caller) bool { return c.Attempts == 1 }

// boundsTheRightOnes is the law of case 11: a lone call that fails may try again; of a
// thousand that fail together as many may as the budget says, and nearly that many if it is
// asked when they fail; a long good day buys no more; and when all is over, one may try
// again as on the first day.
func (x bounding) boundsTheRightOnes(t *testing.T) error {
	lone := x.lone
	if lone == nil {
		lone = x.layer
	}
	for where, stack := range places(lone) {
		d := newDay(t, stack)
		if n := d.call(1, 0, theFirst); n != 1 {
			return fmt.Errorf("place %d: a lone call makes %d extra attempts", where, n)
		}
		d.call(100, 0, always)
		d.call(1000, time.Millisecond, never)
		if n := d.call(1, 0, theFirst); n != 1 {
			return fmt.Errorf("place %d: in the end a lone call makes %d extra attempts", where, n)
		}
	}
	for where, stack := range places(x.layer) {
		d := newDay(t, stack)
		for _, when := range []string{"on the first day", "after a good one"} {
			if n := d.call(1000, 0, always); n > x.most || where == 0 && n < x.most*9/10 {
				return fmt.Errorf("place %d: a thousand calls %s make %d extra attempts, not %d", where, when, n, x.most)
			}
			d.call(3000, time.Millisecond, never)
		}
	}
	return nil
}

// rightPopulation is case 11.
func rightPopulation(t *testing.T) fieldCase {
	c := fieldCase{name: "case-11", law: "a budget counts what it is a share of, and saves nothing up", about: append(ofKind(t, boundsRetries), "Hedge")}
	for _, x := range budgets() {
		c.trials = append(c.trials, layer(x.layer, "", x.boundsTheRightOnes))
	}
	envoy := layers.EnvoyBudget{Percent: 100, InFlightOnly: true, Scope: strategies.PerFleet}
	c.trials = append(c.trials, layer(envoy, "of what is in flight", bounding{envoy, 1000, nil}.boundsTheRightOnes).
		but("a lone call is in flight no more when it asks"))
	return c
}
