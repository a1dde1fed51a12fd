package layers_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// line is a layer that has calls stand in line, and how many a line of patient
// callers sees let in within a second.
type line struct {
	layer  strategies.Layer
	how    string
	within int
	// next is how long who comes after the flood waits at most, before it is let in.
	next time.Duration
	// callers are those of the flood, 0 for 2,000; service is how long an answer
	// takes, 0 for 50 ms.
	callers int
	service time.Duration
	// taught is the answer to a call before the flood, of which some learn that
	// there is a limit.
	taught wire.Class
	// room is how many find a place at all, 0 for all.
	room int
	// retried says that the line is one for retries: the first attempts are refused;
	// once that there is none any more once it has dissolved.
	retried, once bool
}

func lines() []line {
	const s, ms, fleet = time.Second, time.Millisecond, strategies.PerFleet
	five := layers.LimitRange{Initial: 5, Min: 5, Max: 5}
	again := layers.Retry{Backoff: backoffs.Fixed{Every: s}}
	return []line{
		{layer: layers.TokenBucket{Rate: 20, Per: s, Burst: 5, Scope: fleet}, within: 5 + 20, next: 50 * ms},
		{layer: layers.GCRA{Rate: 20, Per: s, Burst: 5, Scope: fleet}, within: 5 + 20, next: 50 * ms},
		{layer: layers.MinInterval{Every: 50 * ms, Scope: fleet}, within: 1 + 20, next: 50 * ms},
		{layer: layers.WorkerQueue{Rate: 20, Per: s, Workers: 10, Scope: fleet}, within: 1 + 20, next: 50 * ms},
		{layer: layers.SlidingLog{Limit: 5, Length: 250 * ms, Scope: fleet}, within: 5 * 5, next: 250 * ms},
		{layer: layers.SlidingCounter{Limit: 5, Length: 250 * ms, Scope: fleet}, within: 4 * 5, next: 250 * ms},
		{layer: layers.DailyBudget{Quota: 10, Per: 500 * ms, Scope: fleet}, within: 3 * 7, next: 500 * ms},
		{layer: layers.HeaderLimit{Scope: fleet}, within: 5 * 5, next: 250 * ms, taught: wire.OK},
		{layer: layers.AWSAdaptive{Scope: fleet}, within: 1, next: 2 * s, taught: wire.Rate},
		{layer: layers.Concurrency{Permits: 5, Scope: fleet}, within: 5 * 21, next: 50 * ms},
		{layer: layers.Bulkhead{Permits: 5, Line: 150, Scope: fleet}, room: 155, within: 5 * 21, next: 50 * ms},
		{layer: layers.Bulkhead{Permits: 5, Line: 20, Patience: s / 2, Scope: fleet}, how: "impatient, ", room: 25, within: 25, next: 50 * ms},
		{layer: layers.AIMD{LimitRange: five, Scope: fleet}, within: 5 * 21, next: 50 * ms},
		{layer: layers.Vegas{LimitRange: five, Scope: fleet}, within: 5 * 21, next: 50 * ms},
		{layer: layers.Gradient2{LimitRange: five, Scope: fleet}, within: 5 * 21, next: 50 * ms},
		{layer: layers.BBR{LimitRange: five, Scope: fleet}, within: 5 * 21, next: 50 * ms},
		{layer: layers.RecursiveSemaphore{Permits: 5, Retry: again, Scope: fleet}, within: 5 * 21, next: 50 * ms},
		{layer: layers.CoolDown{For: s / 2, Pace: 50 * ms, Scope: fleet}, within: 1 + 16, next: 50 * ms, taught: wire.Rate, once: true},
		{layer: layers.ConstantRetrial{Mean: 50 * ms, Scope: fleet}, within: 22, next: 500 * ms, retried: true},
		{layer: layers.SingleFlight{Scope: fleet}, within: 1, next: 0, service: 10 * s},
		{layer: layers.Merge{Size: 1000, Window: 10 * s, Scope: fleet}, next: 10 * s, callers: 900},
	}
}

// orders are the orders in which waiting calls give up.
var orders = map[string]func(i, n int) int{
	"the oldest first": func(i, _ int) int { return i },
	"the newest first": func(i, n int) int { return n - i },
	"in any order":     func(i, n int) int { return i * 7919 % n },
}

// flooded is a lab in which a line is flooded again and again.
type flooded struct {
	*strategytest.Lab
	line     line
	teacher  *strategytest.Caller
	admitted []time.Duration         // when attempts were let in
	used     map[time.Duration]int32 // how many in each window that replies tell of
	demand   wire.Demand             // of the last of them
}

func (x line) flooded(t *testing.T) *flooded {
	const limit, window = 5, 250 * time.Millisecond
	f := &flooded{Lab: strategytest.NewLab(t, theSame(), x.layer), line: x, used: map[time.Duration]int32{}}
	f.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		if x.retried && c.Attempts == 1 {
			return 0, strategytest.Refused(wire.Overloaded)
		}
		f.admitted, f.demand = append(f.admitted, f.Now), c.Demand
		if c == f.teacher && c.Attempts == 1 && x.taught != wire.OK {
			return 0, strategytest.Refused(x.taught)
		}
		n := f.Now / window
		f.used[n]++
		return x.takes(), strategytest.Describing(wire.OK, limit, max(0, limit-f.used[n]), max(1, (n+1)*window-f.Now-x.takes()))
	}
	return f
}

// takes is how long an answer takes.
func (x line) takes() time.Duration {
	if x.service > 0 {
		return x.service
	}
	return 50 * time.Millisecond
}

// since counts those let in since a time.
func (f *flooded) since(at time.Duration) int {
	n, _ := slices.BinarySearch(f.admitted, at)
	return len(f.admitted) - n
}

// pour has so many callers ask from a time on, a nanosecond apart, and give up after a
// second if they still wait. It goes on until the last of them is gone, and says what is
// wrong with how many are let in.
func (f *flooded) pour(callers, within int, begins time.Duration, order func(i, n int) int) error {
	const patience = time.Second
	refused := 0
	f.Gone = map[*strategytest.Caller]bool{}
	f.Settled = func(c *strategytest.Caller, _ strategies.Decision) {
		if c.Born >= begins {
			refused++
		}
	}
	for i := range callers {
		f.At(begins+time.Duration(i), func() {
			c := f.Begin("a", i)
			f.At(begins+patience+time.Duration(order(i, callers)), func() {
				if c.Line != nil || c.Follows != nil { // nothing of it is under way
					f.Withdraw(c)
				}
			})
		})
	}
	f.Run(begins + time.Millisecond)
	if room := f.line.room; room > 0 && callers-refused != room {
		return fmt.Errorf("%d find a place, not %d", callers-refused, room)
	}
	f.Run(begins + patience)
	if n := f.since(begins); n > within || n < within*3/4 {
		return fmt.Errorf("%d let in within a second, not %d", n, within)
	}
	over := begins + patience + time.Duration(callers) + 1
	f.Run(over)
	n := f.since(begins)
	return wrong(n > within, "%d let in until all had left, not %d", n, within)
}

// next has one more call made, and says what is wrong with when it is answered and with
// what it asks for.
func (f *flooded) next(number int) error {
	asked, answered := f.Now, strategies.Never
	f.Settled = func(c *strategytest.Caller, d strategies.Decision) {
		if c.Born == asked && d.End.Reason == strategies.Succeeded {
			answered = f.Now
		}
	}
	f.At(asked, func() { f.Begin("late", number) })
	f.Run(asked + 15*time.Second)
	late := answered > asked+f.line.next+f.line.takes()
	return wrong(late || f.demand.InputTokens > 2*100, // with the teacher's
		"who comes at %v is answered at %v, and %d tokens were asked for", asked, answered, f.demand.InputTokens)
}

// floods is the law of case 7: two thousand callers ask in one moment and give up after a
// second if they still wait; and so do a few hundred, three times more. Those that gave
// up have cost nothing: the next caller is let in as if they had never been, and asks for
// no more than it wants.
func (x line) floods(order func(i, n int) int) func(*testing.T) error {
	return func(t *testing.T) error {
		f := x.flooded(t)
		for flood := range 4 {
			callers, within := 2000, x.within
			if x.callers > 0 {
				callers = x.callers
			}
			if flood > 0 {
				callers = 200
				if x.once {
					within = callers
				}
			}
			begins := time.Duration(flood)*20*time.Second + 2100*time.Millisecond
			if flood == 0 || !x.once {
				f.At(begins-300*time.Millisecond, func() {
					f.teacher = f.Call(fmt.Sprint("teacher.", flood))
					f.Begin("teacher", flood)
				})
			}
			err := f.pour(callers, within, begins, order)
			if err == nil {
				err = f.next(flood)
			}
			if err != nil {
				return fmt.Errorf("flood %d: %w", flood, err)
			}
		}
		return nil
	}
}

// cancelledWaiters is case 7.
func cancelledWaiters(t *testing.T) fieldCase {
	c := fieldCase{name: "case-07", law: "a call that gives up waiting has cost nothing", about: ofKind(t, standsInLine)}
	for _, x := range lines() {
		for how, order := range byName(orders) {
			c.trials = append(c.trials, layer(x.layer, x.how+how, x.floods(order)))
		}
	}
	return c
}
