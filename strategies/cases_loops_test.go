package strategies

import (
	"fmt"
	"testing"
	"time"

	"herdlab/mockprovider/wire"
)

// attemptsOf counts the attempts of one call, at most so many, before a provider
// that fails each of them after a second.
func attemptsOf(t *testing.T, most int, layers ...Layer) int {
	l := NewLab(t, append([]Layer{theSame()}, layers...)...)
	l.Serve = func(*Caller) (time.Duration, wire.Outcome) {
		if len(l.Sent) >= most {
			return Never, Answered
		}
		return time.Second, Refused(wire.Overloaded)
	}
	l.Begin("a", 0)
	l.Run(1000 * time.Hour)
	return len(l.Sent)
}

// bounded is a loop and how many attempts it makes of what fails.
type bounded struct {
	loop Layer
	n    int
	// last says that it is the last word: its failure is not tried again, because
	// nobody outside can do more.
	last bool
}

func boundedLoops() []bounded {
	const s = time.Second
	busy := Rules{Classes: ClassesOf(wire.Overloaded)}
	return []bounded{
		{Retry{Backoff: Fixed{Every: s}, MaxAttempts: 3}, 3, false},
		{Ladder{Rungs: threeRungs, On: busy}, 4, true},
		{Failover{Regions: []uint8{0, 1}, Rounds: 2, Backoff: Fixed{Every: s}, Scope: PerFleet}, 4, true},
		{KeyRotation{Keys: []uint8{0, 1, 2}, Rounds: 1, On: busy, Scope: PerFleet}, 3, true},
		{Deployments{Targets: Targets(3), MaxAttempts: 3, Backoff: Fixed{Every: s}, Scope: PerFleet}, 3, false},
		{WorkerQueue{Rate: 1, Per: s, Workers: 8, MaxAttempts: 3, Scope: PerFleet}, 3, false},
		{Hedge{After: s / 2, Scope: PerFleet}, 2, false},
		{Shrink{Output: 0.5, Times: 2}, 3, false},
		{RecursiveSemaphore{Permits: 1000, Retry: Retry{Backoff: Fixed{Every: s}, MaxAttempts: 3}, Scope: PerFleet}, 3, false},
	}
}

// layersMultiply is case 1: an application that tries four times around an SDK
// that tries three times makes 12 requests, and every other loop between them
// multiplies these. What is no loop never adds to them.
func layersMultiply(t *testing.T) fieldCase {
	c := fieldCase{name: "case-01", law: "attempts of an always failing call = the product over its loops", about: ofKind(t, anyLayer)}
	app := Retry{Backoff: Fixed{Every: time.Second}, MaxAttempts: 4}
	sdk := Retry{Backoff: Fixed{Every: time.Second / 2}, MaxAttempts: 3}
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
				if _, hedges := x.loop.(Hedge); y.last && !hedges {
					want = y.n
				}
				got := attemptsOf(t, 1000, x.loop, y.loop)
				return wrong(got != want, "%d attempts, not %d", got, want)
			}))
		}
	}
	within12 := func(l Layer) func(t *testing.T) error {
		return func(t *testing.T) error {
			for i, stack := range [][]Layer{{l, app, sdk}, {app, l, sdk}, {app, sdk, l}} {
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
		layer(Orbit{Mean: time.Second, Scope: PerFleet}, "", within12(Orbit{Mean: time.Second, Scope: PerFleet})).
			but("it knows no bound of its own"),
		layer(CoolDown{}, "", within12(CoolDown{For: time.Second, Pace: time.Second, Scope: PerFleet})).
			but("what all share is charged to nobody's attempts"),
		layer(CoolDown{}, "charged", within12(CoolDown{For: time.Second, Pace: time.Second, Charged: true, Scope: PerFleet})),
	)
	return c
}

// passing is a loop with a class of failure that it tries again after.
type passing struct {
	how   string
	stack []Layer
	class wire.Class
}

func loopsThatGoOn() []passing {
	const s, fleet = time.Second, PerFleet
	retry, busy, rate := Retry{Backoff: Fixed{Every: s}}, wire.Overloaded, wire.Rate
	return []passing{
		{"", []Layer{retry}, busy},
		{"", []Layer{Ladder{Rungs: threeRungs}}, busy},
		{"", []Layer{Failover{Regions: []uint8{0, 1}, Backoff: Fixed{Every: s}, Scope: fleet}}, busy},
		{"", []Layer{KeyRotation{Keys: []uint8{0, 1, 2}, Backoff: Fixed{Every: s}, Scope: fleet}}, rate},
		{"of any failure", []Layer{KeyRotation{Keys: []uint8{0, 1}, On: Rules{Classes: AnyFailure}, Backoff: Fixed{Every: s}, Scope: fleet}}, busy},
		{"", []Layer{Deployments{Targets: Targets(3), MaxAttempts: 1000, Scope: fleet}}, rate},
		{"", []Layer{Orbit{Mean: s, Scope: fleet}}, busy},
		{"", []Layer{WorkerQueue{Rate: 1, Per: s, Scope: fleet}}, rate},
		{"", []Layer{Hedge{After: s / 2, Attempts: 3, Scope: fleet}}, busy},
		{"", []Layer{Shrink{Context: 0.5, Times: 3}}, wire.TokenRate},
		{"", []Layer{RecursiveSemaphore{Permits: 1000, Retry: retry, Scope: fleet}}, busy},
		{"", []Layer{CoolDown{For: s, Pace: s, Scope: fleet}}, rate},
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
		l := NewLab(t, append([]Layer{theSame()}, x.stack...)...)
		type request struct {
			target wire.Target
			demand wire.Demand
		}
		told := map[request]time.Duration{}
		again := error(nil)
		l.Serve = func(c *Caller) (time.Duration, wire.Outcome) {
			r := request{c.Target, c.Demand}
			at, known := told[r]
			switch {
			case len(l.Sent) == 1:
				return time.Second, Refused(x.class)
			case known && at <= l.Now:
				again = fmt.Errorf("told %v at %v, it asked the same again at %v", class, at, l.Now)
				return Never, Answered
			case !known:
				told[r] = l.Now + time.Second
			}
			o := Refused(class)
			o.Status = 429
			return time.Second, o
		}
		ended := false
		l.Settled = func(*Caller, Decision) { ended = true }
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
	byStatus := passing{"", []Layer{Retry{Backoff: Fixed{Every: time.Second}, On: Rules{Statuses: []Statuses{{400, 599}}}}}, wire.Overloaded}
	latched := passing{"", []Layer{Retry{Backoff: Fixed{Every: time.Second}}, LatchedClass{Scope: PerClient}}, wire.Overloaded}
	c.trials = append(c.trials,
		layer(Retry{}, "by the status", byStatus.neverInVain).but("429 is a spent quota too"),
		layer(LatchedClass{}, "", latched.neverInVain).but("it is there to show what comes of judging once"))
	for _, b := range Builtins() {
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
func onceEach(d Definition) func(*testing.T) error {
	return func(t *testing.T) error {
		for _, r := range []wire.Reply{
			{Status: 400, Shown: wire.TooLarge, Body: wire.ErrorBody, RetryAfter: wire.NoHint},
			{Status: 429, Shown: wire.Quota, Body: wire.ErrorBody, RetryAfter: wire.NoHint},
			{Status: 429, Shown: wire.TooLarge, Body: wire.ErrorBody, RetryAfter: wire.NoHint},
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
func answering(t *testing.T, d Definition, r wire.Reply) (attempts int, answered bool) {
	l := NewLab(t, append([]Layer{theSame()}, d.Layers...)...)
	reader := d.Reader
	if reader == nil {
		reader = wire.ByBody{}
	}
	l.Serve = func(*Caller) (after time.Duration, o wire.Outcome) {
		if len(l.Sent) > 100 {
			return Never, Answered
		}
		reader.Read(&r, l.Now, &o)
		return 100 * time.Millisecond, o
	}
	l.Settled = func(_ *Caller, d Decision) { answered = d.End.Reason == Succeeded }
	l.Begin("a", 0)
	l.Run(time.Hour)
	return len(l.Sent), answered
}
