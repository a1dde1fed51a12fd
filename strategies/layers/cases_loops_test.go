package layers_test

import (
	"fmt"
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/presets"
	"herdlab/strategies/strategytest"
)

// attemptsOf counts the attempts of one call, up to most, against a provider that
// fails each of them after a second.
func attemptsOf(t *testing.T, most int, layers ...strategies.Layer) int {
	l := strategytest.NewLab(t, append([]strategies.Layer{theSame()}, layers...)...)
	l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
		if len(l.Sent) >= most {
			return strategies.Never, strategytest.Answered
		}
		return time.Second, strategytest.Refused(wire.Overloaded)
	}
	l.Begin("a", 0)
	l.Run(1000 * time.Hour)
	return len(l.Sent)
}

// bounded is a loop and how many attempts it makes of what fails.
type bounded struct {
	loop strategies.Layer
	n    int
	// last says that it is the last word: its failure is not tried again, because
	// nobody outside can do more.
	last bool
}

func boundedLoops() []bounded {
	const s = time.Second
	busy := layers.Rules{Classes: strategies.ClassesOf(wire.Overloaded)}
	return []bounded{
		{layers.Retry{Backoff: backoffs.Fixed{Every: s}, MaxAttempts: 3}, 3, false},
		{layers.Ladder{Rungs: threeRungs, On: busy}, 4, true},
		{layers.Failover{Regions: []uint8{0, 1}, Rounds: 2, Backoff: backoffs.Fixed{Every: s}, Scope: strategies.PerFleet}, 4, true},
		{layers.KeyRotation{Keys: []uint8{0, 1, 2}, Rounds: 1, On: busy, Scope: strategies.PerFleet}, 3, true},
		{layers.Deployments{Targets: strategytest.Targets(3), MaxAttempts: 3, Backoff: backoffs.Fixed{Every: s}, Scope: strategies.PerFleet}, 3, false},
		{layers.WorkerQueue{Rate: 1, Per: s, Workers: 8, MaxAttempts: 3, Scope: strategies.PerFleet}, 3, false},
		{layers.Hedge{After: s / 2, Scope: strategies.PerFleet}, 2, false},
		{layers.Shrink{Output: 0.5, Times: 2}, 3, false},
		{layers.RecursiveSemaphore{Permits: 1000, Retry: layers.Retry{Backoff: backoffs.Fixed{Every: s}, MaxAttempts: 3}, Scope: strategies.PerFleet}, 3, false},
	}
}

// layersMultiply is case 1: an application that tries four times around an SDK
// that tries three times makes 12 requests, and every other loop between them
// multiplies these. What is no loop never adds to them.
func layersMultiply(t *testing.T) fieldCase {
	c := fieldCase{name: "case-01", law: "attempts of an always failing call = the product over its loops", about: ofKind(t, anyLayer)}
	app := layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 4}
	sdk := layers.Retry{Backoff: backoffs.Fixed{Every: time.Second / 2}, MaxAttempts: 3}
	for _, x := range boundedLoops() {
		c.trials = append(c.trials, layer(x.loop, "between two loops", func(t *testing.T) error {
			want := 4 * x.n * 3
			if x.last {
				want = x.n * 3
			}
			got := attemptsOf(t, 1000, app, x.loop, sdk)
			return wrong(got != want, "%d attempts, not %d", got, want)
		}))
		for _, y := range boundedLoops() {
			c.trials = append(c.trials, layer(x.loop, fmt.Sprintf("around %T", y.loop), func(t *testing.T) error {
				want := x.n * y.n
				if _, hedges := x.loop.(layers.Hedge); y.last && !hedges {
					want = y.n
				}
				got := attemptsOf(t, 1000, x.loop, y.loop)
				return wrong(got != want, "%d attempts, not %d", got, want)
			}))
		}
	}
	within12 := func(l strategies.Layer) func(t *testing.T) error {
		return func(t *testing.T) error {
			for i, stack := range [][]strategies.Layer{{l, app, sdk}, {app, l, sdk}, {app, sdk, l}} {
				if n := attemptsOf(t, 1000, stack...); n < 1 || n > 12 {
					return fmt.Errorf("%d attempts with the layer at %d", n, i)
				}
			}
			return nil
		}
	}
	loops := map[string]bool{}
	for _, name := range ofKind(t, goesAgain) {
		loops[name] = true
	}
	for how, l := range byName(everyLayer()) {
		if !loops[typeName(l)] {
			c.trials = append(c.trials, layer(l, how, within12(l)))
		}
	}
	c.trials = append(c.trials,
		layer(layers.ConstantRetrial{Mean: time.Second, Scope: strategies.PerFleet}, "", within12(layers.ConstantRetrial{Mean: time.Second, Scope: strategies.PerFleet})).
			but("it knows no bound of its own"),
		layer(layers.CoolDown{}, "", within12(layers.CoolDown{For: time.Second, Pace: time.Second, Scope: strategies.PerFleet})).
			but("what all share is charged to nobody's attempts"),
		layer(layers.CoolDown{}, "charged", within12(layers.CoolDown{For: time.Second, Pace: time.Second, Charged: true, Scope: strategies.PerFleet})),
	)
	return c
}

// passing is a loop with a class of failure that it tries again after.
type passing struct {
	how   string
	stack []strategies.Layer
	class wire.Class
}

func loopsThatGoOn() []passing {
	const s, fleet = time.Second, strategies.PerFleet
	retry, busy, rate := layers.Retry{Backoff: backoffs.Fixed{Every: s}}, wire.Overloaded, wire.Rate
	return []passing{
		{"", []strategies.Layer{retry}, busy},
		{"", []strategies.Layer{layers.Ladder{Rungs: threeRungs}}, busy},
		{"", []strategies.Layer{layers.Failover{Regions: []uint8{0, 1}, Backoff: backoffs.Fixed{Every: s}, Scope: fleet}}, busy},
		{"", []strategies.Layer{layers.KeyRotation{Keys: []uint8{0, 1, 2}, Backoff: backoffs.Fixed{Every: s}, Scope: fleet}}, rate},
		{"of any failure", []strategies.Layer{layers.KeyRotation{Keys: []uint8{0, 1}, On: layers.Rules{Classes: strategies.AnyFailure}, Backoff: backoffs.Fixed{Every: s}, Scope: fleet}}, busy},
		{"", []strategies.Layer{layers.Deployments{Targets: strategytest.Targets(3), MaxAttempts: 1000, Scope: fleet}}, rate},
		{"", []strategies.Layer{layers.ConstantRetrial{Mean: s, Scope: fleet}}, busy},
		{"", []strategies.Layer{layers.WorkerQueue{Rate: 1, Per: s, Scope: fleet}}, rate},
		{"", []strategies.Layer{layers.Hedge{After: s / 2, Attempts: 3, Scope: fleet}}, busy},
		{"", []strategies.Layer{layers.Shrink{Context: 0.5, Times: 3}}, wire.TokenRate},
		{"", []strategies.Layer{layers.RecursiveSemaphore{Permits: 1000, Retry: retry, Scope: fleet}}, busy},
		{"", []strategies.Layer{layers.CoolDown{For: s, Pace: s, Scope: fleet}}, rate},
	}
}

// neverInVain is the law of case 8: a call that meets a failure that passes tries
// again, and one that has been told that this request can never succeed there does not
// make it again, and ends.
func (x passing) neverInVain(t *testing.T) error {
	for _, class := range failures() {
		if class.Transient() {
			continue
		}
		l := strategytest.NewLab(t, append([]strategies.Layer{theSame()}, x.stack...)...)
		type request struct {
			target wire.Target
			demand wire.Demand
		}
		told := map[request]time.Duration{}
		again := error(nil)
		l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
			r := request{c.Target, c.Demand}
			at, known := told[r]
			switch {
			case len(l.Sent) == 1:
				return time.Second, strategytest.Refused(x.class)
			case known && at <= l.Now:
				again = fmt.Errorf("told %v at %v, it asked the same again at %v", class, at, l.Now)
				return strategies.Never, strategytest.Answered
			case !known:
				told[r] = l.Now + time.Second
			}
			o := strategytest.Refused(class)
			o.Status = 429
			return time.Second, o
		}
		ended := false
		l.Settled = func(*strategytest.Caller, strategies.Decision) { ended = true }
		l.Begin("a", 0)
		l.Run(100 * time.Hour)
		switch {
		case again != nil:
			return again
		case len(l.Sent) < 2:
			return fmt.Errorf("what passes, %v, is not tried again", x.class)
		case !ended:
			return fmt.Errorf("the call does not end after %v", class)
		}
	}
	return nil
}

// permanentFailures is case 8.
func permanentFailures(t *testing.T) fieldCase {
	c := fieldCase{name: "case-08", law: "what can never succeed is not asked again", about: append(ofKind(t, goesAgain), "LatchedClass")}
	for _, x := range loopsThatGoOn() {
		c.trials = append(c.trials, layer(x.stack[0], x.how, x.neverInVain))
	}
	byStatus := passing{"", []strategies.Layer{layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, On: layers.Rules{Statuses: []layers.Statuses{{First: 400, Last: 599}}}}}, wire.Overloaded}
	latched := passing{"", []strategies.Layer{layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}}, layers.LatchedClass{Scope: strategies.PerClient}}, wire.Overloaded}
	c.trials = append(c.trials,
		layer(layers.Retry{}, "by the status", byStatus.neverInVain).but("429 is a spent quota too"),
		layer(layers.LatchedClass{}, "", latched.neverInVain).but("it is there to show what comes of judging once"))
	for _, b := range presets.Builtins() {
		x := trial{of: b.Name, holds: onceEach(b.Define(sixSlots))}
		if b.Name == "status-only" {
			x.breaks = "it knows 429 from 400, but not a spent quota from a full window"
		}
		c.about, c.trials = append(c.about, b.Name), append(c.trials, x)
	}
	return c
}

// onceEach is the law for whole strategies, which read what they get: a prompt that is
// too long, a spent quota and a request beyond the limit are asked once each.
func onceEach(d strategies.Definition) func(*testing.T) error {
	return func(t *testing.T) error {
		for _, r := range []wire.Reply{
			{Status: 400, Shown: wire.TooLarge, Body: wire.ErrorBody, Hint: wire.Hint{Value: wire.NoHint}},
			{Status: 429, Shown: wire.Quota, Body: wire.ErrorBody, Hint: wire.Hint{Value: wire.NoHint}},
			{Status: 429, Shown: wire.TooLarge, Body: wire.ErrorBody, Hint: wire.Hint{Value: wire.NoHint}},
		} {
			if n, _ := answering(t, d, r); n != 1 {
				return fmt.Errorf("%d with %v: %d attempts", r.Status, r.Shown, n)
			}
		}
		return nil
	}
}

// answering lets one call of a strategy run for an hour before a provider that always
// answers the same, but never more than a hundred times. It returns how many attempts
// the call has made and whether it takes the last for an answer.
func answering(t *testing.T, d strategies.Definition, r wire.Reply) (attempts int, answered bool) {
	l := strategytest.NewLab(t, append([]strategies.Layer{theSame()}, d.Layers...)...)
	reader := d.Reader
	if reader == nil {
		reader = wire.ByBody{}
	}
	l.Serve = func(*strategytest.Caller) (after time.Duration, o wire.Outcome) {
		if len(l.Sent) > 100 {
			return strategies.Never, strategytest.Answered
		}
		reader.Read(&r, l.Now, &o)
		return 100 * time.Millisecond, o
	}
	l.Settled = func(_ *strategytest.Caller, d strategies.Decision) { answered = d.End.Reason == strategies.Succeeded }
	l.Begin("a", 0)
	l.Run(time.Hour)
	return len(l.Sent), answered
}
