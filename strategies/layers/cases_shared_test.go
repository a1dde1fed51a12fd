package layers_test

import (
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/presets"
	"herdlab/strategies/strategytest"
)

// What calls leave behind for those after them can do harm: a place that is never
// given back, a judgement on everybody by one caller's mistakes.

// sharing is a layer that remembers, with numbers as in the cases and room for what
// they send when all is well.
type sharing struct {
	layer strategies.Layer
	how   string
	// around and inside are what else it needs.
	around, inside []strategies.Layer
	// within is how soon after the provider is well again a call is answered, and
	// usual how long one takes at most when all is well: 0 for 40 s and for 1 s.
	within, usual time.Duration
}

func sharers() []sharing {
	const s, ms, fleet = time.Second, time.Millisecond, strategies.PerFleet
	unwell := strategies.ClassesOf(wire.Overloaded, wire.ServerError, wire.Timeout)
	breaker := layers.Breaker{Failures: 12, Counts: unwell, OpenFor: 30 * s, ProbeTimeout: 10 * s, FailFast: true, Scope: fleet}
	waits := breaker
	waits.FailFast, waits.MinWait, waits.Jitter, waits.Scope = false, s, s, strategies.PerClient
	trip := func(t layers.Trip, probes int) layers.Breaker {
		b := breaker
		b.Failures, b.Trip, b.Probes = 0, t, probes
		b.CloseAfter, b.OpenAfter = probes, 1
		return b
	}
	thrice := layers.Retry{Backoff: backoffs.Fixed{Every: s / 2}, MaxAttempts: 3}
	return []sharing{
		{layer: layers.TokenBucket{Rate: 100, Per: s, Burst: 10, Scope: fleet}},
		{layer: layers.GCRA{Rate: 100, Per: s, Burst: 10, Scope: fleet}},
		{layer: layers.SlidingLog{Limit: 100, Length: s, Scope: fleet}},
		{layer: layers.SlidingCounter{Limit: 100, Length: s, Scope: fleet}},
		{layer: layers.MinInterval{Every: 2 * ms, Jitter: 2 * ms, Scope: fleet}},
		{layer: layers.DailyBudget{Quota: 1_000_000, Scope: fleet}},
		{layer: layers.HeaderLimit{Scope: fleet}},
		{layer: layers.AWSAdaptive{Scope: fleet}, usual: 60 * s},
		{layer: layers.Concurrency{Permits: 2, Scope: fleet}},
		{layer: layers.Bulkhead{Permits: 3, Line: 4, Patience: 20 * s, Scope: fleet}},
		{layer: layers.AIMD{LimitRange: layers.LimitRange{Initial: 2}, Scope: fleet}},
		{layer: layers.Vegas{LimitRange: layers.LimitRange{Initial: 2}, Scope: fleet}},
		{layer: layers.Gradient2{LimitRange: layers.LimitRange{Initial: 2}, Scope: fleet}},
		{layer: layers.BBR{LimitRange: layers.LimitRange{Initial: 2}, Scope: fleet}},
		{layer: layers.WorkerQueue{Rate: 500, Per: s, Workers: 4, MaxAttempts: 3, Scope: fleet}},
		{layer: layers.RecursiveSemaphore{Permits: 2, Retry: thrice, Scope: fleet}, usual: 2 * s},
		{layer: layers.Hedge{After: 2 * s, Percent: 10, Scope: fleet}},
		{layer: layers.Failover{Regions: []uint8{0, 1}, Rounds: 1, Stay: 30 * s, Scope: fleet}},
		{layer: layers.KeyRotation{Keys: []uint8{0, 1, 2}, Rounds: 1, Scope: fleet}},
		{layer: layers.Deployments{Targets: strategytest.Targets(3), Scope: fleet}},
		{layer: layers.Deployments{Targets: strategytest.Targets(1), Scope: fleet}, how: "of one"},
		{layer: layers.ConstantRetrial{Mean: s / 10, Scope: fleet}, usual: 5 * s},
		{layer: breaker},
		{layer: waits, how: "waiting", usual: 2 * s},
		{layer: trip(layers.CountWindow{Last: 20, Min: 10, Percent: 50}, 1), how: "count window"},
		{layer: trip(layers.TimeWindow{Within: 20 * s, Min: 10, Percent: 50}, 3), how: "time window"},
		{layer: trip(layers.Lifetime{Min: 10, Percent: 50}, 3), how: "lifetime"},
		{layer: layers.Throttle{Window: 10 * s, Scope: fleet}},
		{layer: layers.Shedder{Above: []int{10}, Window: 20 * s, Hold: 2 * s, Scope: fleet}, around: []strategies.Layer{strategytest.Asking{Demand: wire.Demand{Priority: 1}}}},
		{layer: layers.CoolDown{For: 30 * s, Pace: 100 * ms, ProbeTimeout: 10 * s, Scope: fleet}},
		{layer: layers.CoolDown{For: 30 * s, Pace: 100 * ms, ProbeTimeout: 10 * s, On: strategies.Limits, Scope: fleet}, how: "for limits"},
		{layer: layers.GRPCBudget{MaxTokens: 10, Ratio: 100, Scope: fleet}, inside: []strategies.Layer{thrice}, usual: 2 * s},
		{layer: layers.FinagleBudget{Percent: 20, MinPerSecond: 10, Scope: fleet}, inside: []strategies.Layer{thrice}, usual: 2 * s},
		{layer: layers.EnvoyBudget{Percent: 20, Floor: 3, Scope: fleet}, inside: []strategies.Layer{thrice}, usual: 2 * s},
		{layer: layers.AWSBudget{Capacity: 500, Cost: 5, Scope: fleet}, inside: []strategies.Layer{thrice}, usual: 2 * s},
		{layer: layers.BrookerBudget{Size: 5, Deposit: 100, Scope: fleet}, inside: []strategies.Layer{thrice}, usual: 2 * s},
		{layer: layers.Cache{TTL: 5 * s, Scope: fleet}},
		{layer: layers.SingleFlight{Scope: fleet}},
		{layer: layers.Merge{Size: 3, Window: 100 * ms, Scope: fleet}},
		{layer: layers.TimeShift{Window: 5 * s, Steady: true}, usual: 6 * s},
		{layer: layers.BusyHours{Scope: fleet}},
		{layer: layers.CapacityAlarm{After: 30 * s, GiveUp: true, Scope: fleet}},
		{layer: layers.ClassAlarm{Scope: fleet}},
		{layer: layers.LatchedClass{Scope: fleet}},
	}
}

// wholeStrategies are the built-in strategies, each shared by all calls.
func wholeStrategies() map[string]sharing {
	all := map[string]sharing{}
	for _, b := range presets.Builtins() {
		all[b.Name] = sharing{inside: b.Define(presets.Knowledge{Rate: 100, Per: time.Second, Concurrency: 6}).Layers, usual: 12 * time.Second}
	}
	return all
}

func (x sharing) stack(outermost ...strategies.Layer) []strategies.Layer {
	all := append(outermost, x.around...)
	if x.layer != nil {
		all = append(all, x.layer)
	}
	return append(all, x.inside...)
}

// loss is how the first attempt after 41 s is lost.
type loss struct {
	how     string
	never   bool       // it is not answered
	timeout bool       // and given up after 10 s
	leaves  bool       // or its caller leaves after a second
	class   wire.Class // else it is refused so
}

var losses = []loss{
	{how: "hangs", never: true, timeout: true},
	{how: "hangs for ever", never: true},
	{how: "withdrawn", never: true, leaves: true},
	{how: "429", class: wire.Rate},
	{how: "400", class: wire.BadRequest},
	{how: "401", class: wire.Auth},
}

// comesBack is the law of case 10: a provider is out for 60 s and well from then on,
// and an attempt after 41 s is lost. With a call each second, one is answered within 40 s
// of the end, and in the end all are, at once. A breaker that has heard a neutral answer
// lets everybody in from then on.
func (x sharing) comesBack(lost loss) func(*testing.T) error {
	return func(t *testing.T) error {
		const seconds = 300
		outage, within, usual := 60*time.Second, x.within, x.usual
		if within == 0 {
			within = 40 * time.Second
		}
		if usual == 0 {
			usual = time.Second
		}
		stack := x.stack(theSame())
		if lost.timeout {
			stack = append(stack, layers.AttemptTimeout{After: 10 * time.Second})
		}
		_, breaks := x.layer.(layers.Breaker)
		l := strategytest.NewLab(t, stack...)
		lostAt := strategies.Never
		l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
			switch {
			case l.Now < 41*time.Second || lostAt < strategies.Never && l.Now < outage:
				return 10 * time.Millisecond, strategytest.Refused(wire.Overloaded)
			case lostAt < strategies.Never:
				return 10 * time.Millisecond, strategytest.Answered
			}
			lostAt = l.Now
			if lost.never {
				if lost.leaves {
					l.At(l.Now+time.Second, func() { l.Withdraw(c) })
				}
				return strategies.Never, strategytest.Answered
			}
			if breaks {
				outage = l.Now
			}
			return 10 * time.Millisecond, strategytest.Refused(lost.class)
		}
		first, late, kept := strategies.Never, 0, 0
		l.Settled = func(c *strategytest.Caller, d strategies.Decision) {
			switch answered := d.End.Reason == strategies.Succeeded || d.End.Reason == strategies.ServedFromMemory; {
			case !answered && c.Born > lostAt:
				kept++
			case !answered:
				return
			case c.Born >= seconds*time.Second*4/5 && l.Now-c.Born <= usual:
				late++
			}
			if l.Now >= outage {
				first = min(first, l.Now)
			}
		}
		for i := range seconds {
			l.At(time.Duration(i)*time.Second, func() { l.Begin("a", i) })
		}
		l.Run(2 * seconds * time.Second)
		if breaks && !lost.never {
			return wrong(kept > 0 || late < seconds/5, "after the neutral answer at %v, %d calls are refused", lostAt, kept)
		}
		return wrong(first > outage+within || late < seconds/5, "the first answer is at %v, and of the last %d calls %d are answered at once", first, seconds/5, late)
	}
}

// lostProbes is case 10.
func lostProbes(t *testing.T) fieldCase {
	c := fieldCase{name: "case-10", law: "after an outage calls are let through again, whatever became of the first", about: ofKind(t, sharesMemory), apart: map[string]string{}}
	for _, x := range sharers() {
		for _, lost := range losses {
			switch x.layer.(type) {
			case layers.Breaker, layers.CoolDown: // which give their own probes up
			default:
				if lost.never && !lost.timeout && !lost.leaves {
					continue
				}
			}
			trial := layer(x.layer, x.how+" "+lost.how, x.comesBack(lost))
			switch x.layer.(type) {
			case layers.RecursiveSemaphore:
				trial.breaks = "it deadlocks, as it is there to show"
			case layers.BusyHours:
				trial.breaks = "it puts calls off to the next hour, and nobody notices that this one is quiet"
			}
			c.trials = append(c.trials, trial)
		}
	}
	for name, x := range byName(wholeStrategies()) {
		c.about = append(c.about, name)
		if name == "breaker+full-jitter" {
			x.within = (30 + 30 + 10) * time.Second // open, and as long for a probe, and jitter
		}
		if name == "naive" {
			c.apart["naive"] = "it keeps nothing, and never ends"
			continue
		}
		for _, lost := range losses {
			if !lost.never || lost.timeout || lost.leaves {
				c.trials = append(c.trials, trial{of: name, how: lost.how, holds: x.comesBack(lost)})
			}
		}
	}
	return c
}
