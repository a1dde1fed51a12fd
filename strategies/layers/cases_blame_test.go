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

// Four short cases test which calls are affected by the failures of other calls.

// sparesOthers is a law for what calls share: one caller makes a hundred requests that
// can never succeed, each of which is made, and leaves alone those of the others, of
// which one in fifty fails and is tried again: all of them are answered.
func (x sharing) sparesOthers(class wire.Class) func(*testing.T) error {
	return func(t *testing.T) error {
		usual := max(x.usual, time.Second)
		l := strategytest.NewLab(t, x.stack(layers.Retry{Backoff: backoffs.Fixed{Every: 100 * time.Millisecond}, MaxAttempts: 5})...)
		bad, n := 0, 0
		oversize := map[*strategytest.Caller]bool{}
		l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
			if oversize[c] {
				bad++
				return 10 * time.Millisecond, strategytest.Refused(class)
			}
			if n++; n%50 == 0 {
				return 10 * time.Millisecond, strategytest.Refused(wire.ServerError)
			}
			return 10 * time.Millisecond, strategytest.Answered
		}
		answered, longest := 0, time.Duration(0)
		l.Settled = func(c *strategytest.Caller, d strategies.Decision) {
			if !oversize[c] && d.End.Reason == strategies.Succeeded {
				answered++
				longest = max(longest, l.Now-c.Born)
			}
		}
		for i := range 100 {
			l.At(2*time.Second+time.Duration(i)*5*time.Millisecond, func() { // twenty in a row
				oversize[l.Call(fmt.Sprint("bad.", i))] = true
				l.Begin("bad", i)
			})
		}
		for i := range 1000 {
			l.At(time.Duration(i)*100*time.Millisecond+50*time.Millisecond, func() { l.Begin("good", i) })
		}
		l.Run(time.Hour)
		return wrong(bad < 100 || answered < 1000 || longest > usual,
			"of 100 that are too large %d were made; of the 1000 others %d were answered, within %v", bad, answered, longest)
	}
}

// othersMistakes is the first of the short ones: bad requests that open the breaker for
// everyone.
func othersMistakes(t *testing.T) fieldCase {
	c := fieldCase{name: "case-17", law: "bad requests of one client do not affect the others", about: ofKind(t, sharesMemory)}
	for _, x := range sharers() {
		for _, class := range []wire.Class{wire.BadRequest, wire.TooLarge} {
			trial := layer(x.layer, x.how+" "+class.String(), x.sparesOthers(class))
			switch x.layer.(type) {
			case layers.LatchedClass:
				trial.breaks = "it takes all failures for the first one, as it is there to show"
			case layers.Merge:
				trial.breaks = "who goes together fails together, as it says"
			}
			c.trials = append(c.trials, trial)
		}
	}
	for name, x := range byName(wholeStrategies()) {
		x.usual = 5 * time.Minute // the patience of some with one failure in fifty
		c.about = append(c.about, name)
		c.trials = append(c.trials, trial{of: name, holds: x.sparesOthers(wire.TooLarge)})
	}
	return c
}

// neitherHealth is its mirror image: a 429 between the failures is no success.
func neitherHealth(t *testing.T) fieldCase {
	c := fieldCase{
		name: "case-18", law: "503 and 429 in turn end it at the fifth 503, the ninth answer",
		about: append(trips(t), "Breaker", "GRPCBudget"),
	}
	unwell := strategies.ClassesOf(wire.Overloaded, wire.ServerError)
	opens := func(stack ...strategies.Layer) func(*testing.T) error {
		return func(t *testing.T) error {
			l := strategytest.NewLab(t, stack...)
			l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
				class := wire.Overloaded
				if len(l.Sent)%2 == 0 {
					class = wire.Rate
				}
				return time.Millisecond, strategytest.Refused(class)
			}
			for i := range 100 {
				l.At(time.Duration(i)*time.Second, func() { l.Begin("a", i) })
			}
			l.Run(100 * time.Second)
			return wrong(len(l.Sent) != 9, "%d attempts", len(l.Sent))
		}
	}
	breaker := layers.Breaker{Failures: 5, Counts: unwell, OpenFor: time.Hour, FailFast: true, Scope: strategies.PerFleet}
	c.trials = append(c.trials, layer(breaker, "", opens(breaker)))
	for _, trip := range []layers.Trip{
		layers.CountWindow{Last: 5, Percent: 100}, layers.TimeWindow{Within: time.Hour, Min: 5, Percent: 100}, layers.Lifetime{Min: 5, Percent: 100},
	} {
		by := breaker
		by.Failures, by.Trip = 0, trip
		c.trials = append(c.trials, trial{of: typeName(trip), holds: opens(by)})
	}
	// One call tries on until the budget ends it.
	budget := layers.GRPCBudget{MaxTokens: 10, Ratio: 100, Counts: unwell, Scope: strategies.PerFleet}
	once := func(t *testing.T) error {
		l := strategytest.NewLab(t, budget, layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}})
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			class := wire.Overloaded
			if len(l.Sent)%2 == 0 {
				class = wire.Rate
			}
			return time.Millisecond, strategytest.Refused(class)
		}
		l.Begin("a", 0)
		l.Run(time.Hour)
		return wrong(len(l.Sent) != 9, "%d attempts", len(l.Sent))
	}
	c.trials = append(c.trials, layer(budget, "", once))
	return c
}

// forgives is a law for what calls share: one call that meets an overload, among others
// that are answered, is no reason to keep anybody away.
func (x sharing) forgives(t *testing.T) error {
	usual := max(x.usual, time.Second)
	l := strategytest.NewLab(t, x.stack()...)
	l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		if c.Born == 20*time.Second {
			return 10 * time.Millisecond, strategytest.Refused(wire.Overloaded)
		}
		return 10 * time.Millisecond, strategytest.Answered
	}
	well := 0
	l.Settled = func(c *strategytest.Caller, d strategies.Decision) {
		if d.End.Reason == strategies.Succeeded && l.Now-c.Born <= usual {
			well++
		}
	}
	for i := range 60 {
		l.At(time.Duration(i)*time.Second, func() { l.Begin(fmt.Sprint(i%3), i) })
	}
	l.Run(2 * time.Minute)
	return wrong(well < 59, "of 59 others %d are answered at once", well)
}

// overloadOfAll is the same for those who choose a place: an overload of 10 s of all of
// them is over when it is over.
func overloadOfAll(stack ...strategies.Layer) func(*testing.T) error {
	return func(t *testing.T) error {
		l := strategytest.NewLab(t, stack...)
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			if l.Now >= 5*time.Second && l.Now < 15*time.Second {
				return 10 * time.Millisecond, strategytest.Refused(wire.Overloaded)
			}
			return 100 * time.Millisecond, strategytest.Answered
		}
		kept := 0
		l.Settled = func(c *strategytest.Caller, d strategies.Decision) {
			if c.Born >= 22*time.Second && (d.End.Reason != strategies.Succeeded || l.Now-c.Born > time.Second) {
				kept++
			}
		}
		for i := range 120 {
			l.At(time.Duration(i)*time.Second, func() { l.Begin("a", i) })
		}
		l.Run(time.Hour)
		return wrong(kept > 0, "%d calls fail or wait when it is over", kept)
	}
}

// oneOverload is the third of the short ones: one 529 that benches every account.
func oneOverload(t *testing.T) fieldCase {
	c := fieldCase{name: "case-20", law: "one overload does not keep clients away", about: append(ofKind(t, sharesMemory), "Ladder")}
	for _, x := range sharers() {
		trial := layer(x.layer, x.how+" one call", x.forgives)
		switch k := x.layer.(type) {
		case layers.CoolDown:
			if k.On == 0 {
				trial.breaks = "it applies one refusal to all calls, also an overload by default"
			}
		case layers.RecursiveSemaphore:
			trial.breaks = "the call keeps all permits for ever"
		}
		c.trials = append(c.trials, trial)
	}
	for name, x := range byName(wholeStrategies()) {
		c.about = append(c.about, name)
		c.trials = append(c.trials, trial{of: name, holds: x.forgives})
	}
	waits := layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: 8 * time.Second}}
	keys, five := []uint8{0, 1, 2, 3, 4}, strategytest.Targets(5)
	hasty := layers.Deployments{Targets: five, CoolDown: time.Minute, Percent: 1, Least: 1, MaxAttempts: 5, Scope: strategies.PerFleet}
	for _, l := range []strategies.Layer{
		layers.KeyRotation{Keys: keys, Rounds: 1, Scope: strategies.PerFleet},
		layers.Failover{Regions: keys, Rounds: 1, Stay: time.Second, Scope: strategies.PerFleet},
		layers.Deployments{Targets: five, MaxAttempts: 5, Scope: strategies.PerFleet},
		layers.Ladder{Rungs: threeRungs},
	} {
		c.trials = append(c.trials, layer(l, "of all places", overloadOfAll(waits, l)))
	}
	c.trials = append(c.trials, layer(hasty, "benching for any failure", overloadOfAll(waits, hasty)).but("all are benched for a minute"))
	return c
}

// peopleAnswered is a law for what knows priorities: people who ask every two seconds, and
// have twenty to wait, share a limit of 60 a minute with a batch that never stops. Nearly
// all of them are answered, and the batch is not forgotten.
func peopleAnswered(stack ...strategies.Layer) func(*testing.T) error {
	return func(t *testing.T) error {
		const span = 10 * time.Minute
		l := strategytest.NewLab(t, stack...)
		var taken []time.Duration
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			for len(taken) > 0 && taken[0] <= l.Now-time.Minute {
				taken = taken[1:]
			}
			if len(taken) >= 60 {
				return 10 * time.Millisecond, strategytest.Refused(wire.Rate)
			}
			taken = append(taken, l.Now)
			return time.Second, strategytest.Answered
		}
		people := map[*strategytest.Caller]bool{}
		answered, batch := 0, 0
		l.Settled = func(c *strategytest.Caller, d strategies.Decision) {
			switch done := d.End.Reason == strategies.Succeeded; {
			case people[c]:
				people[c] = false
				if done {
					answered++
				}
			case l.Now < span:
				if done {
					batch++
				}
				c.ID += 1 << 32
				l.At(l.Now+time.Second, func() { l.Step(c, strategies.Event{Kind: strategies.Begin}) })
			}
		}
		for i := range int(span / (2 * time.Second)) {
			l.At(time.Duration(i)*2*time.Second, func() {
				c := l.Call(fmt.Sprint("people.", i))
				people[c] = true
				l.Begin("people", i)
				l.At(l.Now+20*time.Second, func() {
					if people[c] {
						people[c] = false
						l.Withdraw(c)
					}
				})
			})
		}
		for i := range 20 {
			c := l.Call(fmt.Sprint("batch.", i))
			c.Demand.Priority = 1
			l.At(time.Duration(i)*500*time.Millisecond, func() { l.Begin("batch", i) })
		}
		l.Run(span + time.Hour)
		share := float64(answered) / float64(span/(2*time.Second))
		return wrong(share < 0.85 || batch < 20, "%.2f of the people and %d of the batch are answered", share, batch)
	}
}

// peopleFirst is case 19: the refusals of a batch starve interactive calls.
func peopleFirst(t *testing.T) fieldCase {
	c := fieldCase{name: "case-19", law: "interactive calls are answered before a batch", about: append(ofKind(t, knowsPriorities), "Retry")}
	retry := layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: 64 * time.Second}}
	shed := layers.Shedder{Above: []int{10}, Window: time.Minute, Min: 5, Hold: 20 * time.Second, Jitter: 20 * time.Second, Scope: strategies.PerFleet}
	later := layers.TimeShift{Every: 8 * time.Minute, At: 8*time.Minute - 1, Window: time.Minute, Priority: 1}
	quiet := layers.BusyHours{Day: 20 * time.Minute, Parts: 2, On: strategies.Limits, Priority: 1, Scope: strategies.PerFleet}
	c.trials = append(c.trials,
		layer(shed, "", peopleAnswered(retry, shed)),
		layer(later, "", peopleAnswered(retry, later)),
		layer(quiet, "", peopleAnswered(retry, quiet)),
		layer(retry, "alone", peopleAnswered(retry)).but("the limit serves the client with the most attempts"))
	return c
}
