package layers_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/sim/saturating"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/presets"
	"herdlab/strategies/strategytest"
)

// Case 6: what grows through a long outage must not overflow.

// neverHot is the law for backoffs: through two days of outage each wait is longer
// than nothing and no longer than it may be, and late in the second day there are no
// more attempts than such waits allow. Attempts is how many there are in all, if
// known.
func neverHot(b waitKind, limit time.Duration, attempts int) func(*testing.T) error {
	return func(t *testing.T) error {
		x := strategytest.NewRetrier(t, layers.Retry{Backoff: b.backoff})
		x.Begin(1)
		n, late := 1, 0
		for now := time.Duration(0); ; n++ {
			wait := x.Refuse(now, wire.NoHint).After
			if wait <= 0 || wait > b.most {
				return fmt.Errorf("wait %d is %v", n, wait)
			}
			if now += wait; now > 48*time.Hour {
				break
			}
			if now > 83_295*time.Second { // where 1 s·2ⁿ overflows
				late++
			}
		}
		if attempts > 0 && n != attempts {
			return fmt.Errorf("%d attempts, not %d", n, attempts)
		}
		return wrong(late > 8*int((172_800-83_295)*time.Second/limit), "%d attempts late in the second day", late)
	}
}

// saturates is the same for whatever number of the retry and whatever base and cap;
// and what is certain of a wait never falls.
func saturates(of, how string) func(*testing.T) error {
	return func(t *testing.T) error {
		for _, base := range []time.Duration{1, time.Second, time.Hour, strategies.Never / 3, strategies.Never} {
			for _, limit := range []time.Duration{0, 1, time.Hour, strategies.Never / 2, strategies.Never} {
				for _, b := range waitKinds(base, limit) {
					if typeName(b.backoff) != of || b.how != how || strategies.ValidateBackoff(b.backoff) != nil {
						continue
					}
					last := time.Duration(0)
					for _, retry := range []int64{0, 1, 2, 33, 34, 54, 55, 62, 63, 64, 65, 1 << 20, 1 << 31, 1<<31 + 1, 1 << 40, math.MaxInt64} {
						for attempts := range uint32(3) {
							c := strategies.NewCall(draw.New(uint64(retry)))
							c.Attempts = attempts - 1 // the last before it wraps, too
							for _, prev := range []time.Duration{0, base, strategies.Never} {
								low, jitter := b.backoff.Delay(c, 1, retry, prev)
								if low < 0 || jitter < 0 || limit > 0 && saturating.Add(low, jitter) > b.most {
									return fmt.Errorf("base %v, cap %v, retry %d: %v + %v", base, limit, retry, low, jitter)
								}
								if low < last {
									return fmt.Errorf("base %v, cap %v, retry %d: %v, which is less than before", base, limit, retry, low)
								}
								last = low
							}
						}
					}
				}
			}
		}
		return nil
	}
}

// tryingOn is a loop that goes on through any outage, by a backoff of 1 s that
// doubles up to an hour.
type tryingOn struct {
	loop   strategies.Layer
	places int // how many it tries at a time
	word   int // the word of its call that counts, or -1
}

func loopsWithoutEnd() []tryingOn {
	const ever, fleet = 1 << 20, strategies.PerFleet
	busy := layers.Rules{Classes: strategies.ClassesOf(wire.Overloaded)}
	hourly := backoffs.Exponential{Base: time.Second, Cap: time.Hour}
	return []tryingOn{
		{layers.Retry{Backoff: hourly}, 1, 0},
		{layers.Ladder{Rungs: []layers.Rung{{Tries: ever}}, On: busy, Backoff: hourly}, 1, -1},
		{layers.Failover{Regions: []uint8{0, 1}, Backoff: hourly, Scope: fleet}, 2, layers.RoundsOver},
		{layers.KeyRotation{Keys: []uint8{0, 1, 2}, On: busy, Backoff: hourly, Scope: fleet}, 3, layers.RoundsOver},
		{layers.Deployments{Targets: strategytest.Targets(2), MaxAttempts: math.MaxInt, CoolDown: time.Hour, Backoff: hourly, Scope: fleet}, 10, 0}, // five failures bench one
		{layers.Shrink{Output: 0.9, Times: math.MaxInt, Backoff: hourly}, 1, 0},
		{layers.RecursiveSemaphore{Permits: ever, Retry: layers.Retry{Backoff: hourly}, Scope: fleet}, 1, -1},
		{layers.ConstantRetrial{Mean: time.Hour, Scope: fleet}, 4, -1},
		{layers.WorkerQueue{Rate: 1, Per: time.Hour, Scope: fleet}, 1, -1},
		{layers.CoolDown{For: time.Hour, Pace: time.Second, Scope: fleet}, 1, -1},
	}
}

// goesOnSlowly is the law for loops: through two days of outage they try on, by the
// hour at last, and so they do when they have tried more often than 31 bits can say.
func (x tryingOn) goesOnSlowly(t *testing.T) error {
	l := strategytest.NewLab(t, theSame(), x.loop)
	late := 0
	l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
		if l.Now > 83_295*time.Second {
			late++
		}
		return time.Millisecond, strategytest.Refused(wire.Overloaded)
	}
	l.Begin("a", 0)
	l.Run(48 * time.Hour)
	if late < 10 || late > 25*x.places {
		return fmt.Errorf("%d attempts late in the second day", late)
	}
	if x.word < 0 {
		return nil
	}
	p := program(t, x.loop)
	for _, tries := range []int64{1 << 31, 1<<31 + 1, 1 << 40, math.MaxInt64 - 100} {
		c := strategies.NewCall(draw.New(1))
		for s := range c.Driver().Memory {
			c.Driver().Memory[s] = make([]int64, p.Words[s])
		}
		p.Root.Next(0, c, strategies.Event{Kind: strategies.Begin})
		c.Driver().Memory[strategies.PerCall][x.word] = tries
		for range 3 * x.places {
			c.Attempts++
			d := p.Root.Next(0, c, strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: strategytest.Refusal(wire.NoHint)})
			if d.Kind != strategies.Wait || d.After < 0 || d.After > time.Hour || d.After == 0 && x.places == 1 {
				return fmt.Errorf("after %d tries: %+v", tries, d)
			}
			p.Root.Next(0, c, strategies.Event{Kind: strategies.Wake})
		}
	}
	return nil
}

// forEver is a layer with the longest times there are, and how many attempts eight calls
// make in seventy years; -1 if that is a matter of luck.
type forEver struct {
	layer    strategies.Layer
	attempts int
}

func forEvers() []forEver {
	const ever, fleet = strategies.Never, strategies.PerFleet
	long := backoffs.Fixed{Every: ever, Jitter: ever}
	return []forEver{
		{layers.Retry{Backoff: long, MaxElapsed: ever, MinWait: ever, Hints: layers.Hints{Use: layers.HintAsFloor, Spread: 1000}}, 8},
		{layers.Retry{Backoff: backoffs.Linear{First: ever, Step: ever, Jitter: ever}, Hints: layers.Hints{Use: layers.HintClamped, Slack: ever}}, 8},
		{layers.Ladder{Rungs: threeRungs, Backoff: long, On: layers.Rules{Classes: strategies.Limits}}, 8},
		{layers.Failover{Regions: []uint8{0, 1}, Backoff: long, Stay: ever, On: layers.Rules{Classes: strategies.Limits}, Scope: fleet}, 16},
		{layers.Deployments{Targets: strategytest.Targets(2), CoolDown: ever, Jitter: ever, Backoff: long, Scope: fleet}, 2},
		{layers.ConstantRetrial{Mean: ever, Scope: fleet}, -1},
		{layers.WorkerQueue{Rate: 1, Per: ever / 4, Scope: fleet}, 1},
		{layers.Hedge{After: ever, Quantile: 0.99, Scope: fleet}, 8},
		{layers.TokenBucket{Rate: 1, Per: ever / 4, Burst: 1, Scope: fleet}, 1},
		{layers.GCRA{Rate: 1, Per: ever / 4, Burst: 1, Scope: fleet}, 1},
		{layers.SlidingLog{Limit: 1, Length: ever, Scope: fleet}, 1},
		{layers.SlidingCounter{Limit: 1, Length: ever / 4, Scope: fleet}, 1},
		{layers.MinInterval{Every: ever, Jitter: ever, Scope: fleet}, 1},
		{layers.DailyBudget{Quota: 2, Per: ever, Offset: ever - 1, Carry: 1, Scope: fleet}, 1},
		{layers.Bulkhead{Permits: 1, Line: 1, Patience: ever, Scope: fleet}, 8},
		{layers.AIMD{Slow: ever, Scope: fleet}, 8},
		{layers.BBR{Window: ever, Scope: fleet}, 8},
		{layers.Breaker{Failures: 1, OpenFor: ever, OpenJitter: ever, MinWait: ever, Jitter: ever, Scope: fleet}, 1},
		{layers.Breaker{Trip: layers.TimeWindow{Within: ever, Percent: 1}, OpenFor: ever, SlowAfter: ever, FailFast: true, Scope: fleet}, 1},
		{layers.Throttle{Window: ever, Scope: fleet}, -1},
		{layers.Shedder{Above: []int{1}, Window: ever, Hold: ever, Jitter: ever, Scope: fleet}, 1},
		{layers.CoolDown{For: ever, Jitter: ever, Pace: ever, ProbeTimeout: ever, Scope: fleet}, 1},
		{layers.AttemptTimeout{After: ever}, 8},
		{layers.Deadline{Within: ever}, 8},
		{layers.Cache{TTL: ever, Scope: fleet}, 8},
		{layers.Merge{Size: 2, Window: ever, Scope: fleet}, 4},
		{layers.TimeShift{Window: ever, Steady: true}, -1},
		{layers.TimeShift{Every: ever, At: ever - 1, Window: ever}, 0},
		{layers.BusyHours{Day: ever, Least: 1, On: strategies.Limits, Scope: fleet}, -1},
		{layers.CapacityAlarm{After: ever, Scope: fleet}, 8},
	}
}

// lasts is the law for them: what is for ever does not overflow and become nothing.
func (x forEver) lasts(t *testing.T) error {
	l := strategytest.NewLab(t, strategytest.Asking{Demand: wire.Demand{Prompt: 7, Priority: 1}}, x.layer)
	l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
		return time.Second, strategytest.Refused(wire.Rate)
	}
	for i := range 8 {
		l.At(time.Duration(i+1)*time.Hour, func() { l.Begin("a", i) })
	}
	l.Run(70 * year)
	return wrong(x.attempts >= 0 && len(l.Sent) != x.attempts, "%d attempts, not %d", len(l.Sent), x.attempts)
}

const year = 365 * 24 * time.Hour

// timeGoesOn is the law for all layers: whatever times a provider writes, no wait is
// negative and nothing is due before now. The lab says so if it is.
func timeGoesOn(layer strategies.Layer) func(*testing.T) error {
	extremes := []time.Duration{wire.NoHint, 0, 1, time.Hour, strategies.Never / 3, strategies.Never / 2, strategies.Never - 1, strategies.Never}
	return func(t *testing.T) error {
		for seed := range uint64(20) {
			luck, n := draw.New(seed), uint64(0)
			below := func(bound int) int { n++; return int(luck.Below(n, uint64(bound))) }
			ask := strategytest.Asking{Demand: wire.Demand{Prompt: 7, OutputTokens: 100, Priority: uint8(seed % 2)}}
			l := strategytest.NewLab(t, ask, layers.Retry{Backoff: backoffs.Exponential{Base: time.Second}, MaxAttempts: 5}, layer)
			l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
				o := strategytest.Refused([]wire.Class{wire.OK, wire.Overloaded, wire.Rate, wire.TokenRate, wire.Auth}[below(5)])
				o.RetryAfter, o.Reset = extremes[below(len(extremes))], extremes[below(len(extremes))]
				o.Limit, o.Remaining = int32([]int{0, 1, math.MaxInt32}[below(3)]), int32([]int{0, 1, math.MaxInt32}[below(3)])
				return []time.Duration{1, time.Second, 20 * year}[below(3)], o
			}
			for i := range 8 {
				l.At(time.Duration(below(3))*10*year, func() { l.Begin(fmt.Sprint("c", i%2), i) })
			}
			l.Run(200 * year)
		}
		return nil
	}
}

// overflows is case 6.
func overflows(t *testing.T) fieldCase {
	c := fieldCase{name: "case-06", law: "no wait is negative, none is longer than its cap, and nothing becomes a hot loop", about: append(ofKind(t, anyLayer), exported(t, "../backoffs", "Delay")...)}
	for _, b := range waitKinds(time.Second, time.Hour) {
		attempts := 0
		if b.backoff == (backoffs.Exponential{Base: time.Second, Cap: time.Hour}) {
			attempts = 59
		}
		name := typeName(b.backoff)
		c.trials = append(c.trials,
			trial{of: name, how: b.how + " two days", holds: neverHot(b, time.Hour, attempts)},
			trial{of: name, how: b.how + " any numbers", holds: saturates(name, b.how)})
	}
	for _, x := range loopsWithoutEnd() {
		c.trials = append(c.trials, layer(x.loop, "two days", x.goesOnSlowly))
	}
	for how, l := range byName(everyLayer()) {
		c.trials = append(c.trials, layer(l, how+" in any time", timeGoesOn(l)))
	}
	for i, x := range forEvers() {
		c.trials = append(c.trials,
			layer(x.layer, fmt.Sprint("for ever ", i), x.lasts),
			layer(x.layer, fmt.Sprint("for ever ", i, " in any time"), timeGoesOn(x.layer)))
	}
	for _, b := range presets.Builtins() {
		x := trial{of: b.Name, holds: goesOnCalmly(b.Define(presets.Knowledge{Rate: 10, Per: time.Minute, Concurrency: 6}).Layers)}
		if b.Name == "naive" {
			x.breaks = "it is a hot loop from the beginning"
		}
		c.about, c.trials = append(c.about, b.Name), append(c.trials, x)
	}
	return c
}

// goesOnCalmly is the law for whole strategies: in two days of outage the second brings
// no more attempts than the first, and they are five seconds apart on the average.
func goesOnCalmly(stack []strategies.Layer) func(*testing.T) error {
	return func(t *testing.T) error {
		const day = 24 * time.Hour
		const many = int(2 * day / (5 * time.Second))
		l := strategytest.NewLab(t, stack...)
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			if len(l.Sent) > many {
				return strategies.Never, strategytest.Answered
			}
			return time.Millisecond, strategytest.Refused(wire.Overloaded)
		}
		l.Begin("a", 0)
		l.Run(2 * day)
		first := 0
		for first < len(l.Sent) && l.Sent[first] < day {
			first++
		}
		second := len(l.Sent) - first
		return wrong(second > first+first/10 || len(l.Sent) > many, "%d attempts in one day, %d in the next", first, second)
	}
}
