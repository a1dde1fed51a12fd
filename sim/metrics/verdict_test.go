package metrics

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"herdlab/sim/draw"
)

// drains is a runner that drains after so many seconds, some more on odd seeds.
func drains(name string, seconds, spread float64) runner {
	return runner{name, func(seed uint64, v *Values) {
		v[DrainTime] = seconds
		if seed%2 == 1 {
			v[DrainTime] += spread
		}
	}}
}

// peaks lets a runner peak at so many attempts per second.
func peaks(r runner, attempts float64) runner {
	return runner{r.name, func(seed uint64, v *Values) {
		r.edit(seed, v)
		v[PeakAfter], v[PeakAfterOfCapacity] = attempts, attempts/3
	}}
}

// fails lets so many of a runner's 60 calls fail.
func fails(r runner, calls float64) runner {
	return runner{r.name, func(seed uint64, v *Values) {
		r.edit(seed, v)
		v[FailedCalls], v[SuccessRate], v[BelievedSuccessRate] = calls, 1-calls/60, 1-calls/60
		v[DrainTime] = Never
	}}
}

func TestSentences(t *testing.T) {
	naive := peaks(drains("naive", 20.001, 0), 1086)
	fixed := peaks(drains("fixed", 272.951, 0), 60)
	tall := peaks(drains("tall", 100, 0), 39.93)
	quick, slow := drains("quick", 56, 0.6), drains("slow", 61, 2)
	gaveUp := fails(drains("five-tries", 0, 0), 60)
	open := outage
	open.OneShot, open.Bin, open.Horizon = false, 0.5, 3600
	quiet := open
	quiet.Faults = nil
	recovers := func(name string, never func(seed uint64) bool) runner {
		return runner{name, func(seed uint64, v *Values) {
			v[DrainTime] = Undefined
			if never(seed) {
				v[RecoveryTime] = Never
			}
		}}
	}
	recoversIn := func(name string, seconds float64) runner {
		return runner{name, func(_ uint64, v *Values) { v[DrainTime], v[RecoveryTime] = Undefined, seconds }}
	}
	waits := func(name string, seconds float64) runner {
		return runner{name, func(_ uint64, v *Values) { v[RecoveryTime], v[LatencyP99] = Undefined, seconds }}
	}
	for _, test := range []struct {
		name     string
		scenario Scenario
		seeds    uint64
		by       Objective
		runners  []runner
		want     string
	}{
		{"the founding experiment", outage, 20, ByDrain, []runner{naive, fixed, tall, gaveUp, slow, quick},
			"quick wins on drain time after the outage: 56.3 s (95 % interval 56.2 to 56.4 s over 20 seeds). " +
				"The runner-up is slow with 62.0 s (95 % interval 61.5 to 62.5 s); the difference is significant (p < 0.001, paired by seed). " +
				"naive drains first, after 20.0 s, but is disqualified: its peak of 1,086 per second after the outage is 362 × capacity, over the bound of 5 ×. " +
				"Also disqualified: fixed and tall (peaks of 13.3 to 20 × capacity); five-tries (all 60 jobs fail)."},
		{"one seed", outage, 1, ByDrain, []runner{slow, quick},
			"quick wins on drain time after the outage: 56.6 s (one seed, so no interval). " +
				"The runner-up is slow with 63 s; whether the difference is luck takes at least 6 seeds to tell."},
		{"constant figures", outage, 6, ByDrain, []runner{drains("a", 10, 0), drains("b", 9, 0)},
			"b wins on drain time after the outage: 9 s (the same on all 6 seeds). " +
				"The runner-up is a with 10 s; the difference is significant (p = 0.031, paired by seed)."},
		{"level", outage, 8, BySuccess, []runner{slow, {"thrifty", func(_ uint64, v *Values) { v[Attempts] = 120 }}},
			"thrifty wins on success rate: 100 % (the same on all 8 seeds). " +
				"The runner-up, slow, is level with it on every seed but makes more attempts (240 against 120)."},
		{"nothing but luck", outage, 20, ByDrain, []runner{drains("a", 10, 4), drains("b", 14, -3.8)},
			"a wins on drain time after the outage: 12.0 s (95 % interval 11.0 to 13.0 s over 20 seeds). " +
				"The runner-up is b with 12.1 s (95 % interval 11.2 to 13.0 s); the difference is not significant (p = 0.82, paired by seed)."}, // 1 − C(20,10)/2²⁰
		{"only one is fit", outage, 20, ByAttempts, []runner{quick, fails(slow, 12)},
			"quick wins on attempts: 240 attempts (the same on all 20 seeds). No other strategy is fit to win. " +
				"Disqualified: slow (12 of 60 jobs fail)."},
		{"only one is there", outage, 20, ByPeak, []runner{quick},
			"quick wins on peak after the outage: 6 attempts per second (the same on all 20 seeds). It is the only strategy compared."},
		{"nobody is fit", outage, 20, ByDrain, []runner{fails(quick, 3), gaveUp, naive},
			"No strategy is fit to win: each one either loses jobs or has a peak over the bound of 5 × capacity. " +
				"Least bad is naive: it answers 100 % of the jobs, but its peak of 1,086 per second after the outage is 362 × capacity, over the bound of 5 ×. " +
				"Disqualified: naive (peak of 362 × capacity); quick (3 of 60 jobs fail); five-tries (all 60 jobs fail)."},
		{"nobody answers", outage, 20, ByDrain, []runner{gaveUp},
			"No strategy is fit to win: each one loses jobs. Disqualified: five-tries (all 60 jobs fail)."},
		{"nobody keeps the bound", outage, 20, ByDrain, []runner{naive, fixed},
			"No strategy is fit to win: each one's peak is over the bound of 5 × capacity. " +
				"Least bad is fixed: it answers 100 % of the jobs, but its peak of 60 per second after the outage is 20 × capacity, over the bound of 5 ×. " +
				"Disqualified: naive and fixed (peaks of 20 to 362 × capacity)."},
		{"recovery that sometimes never comes", open, 20, ByDrain,
			[]runner{recovers("often", func(s uint64) bool { return s%5 == 0 }), recovers("seldom", func(s uint64) bool { return s == 7 })},
			"seldom wins on recovery time after the outage: a median of 30 s, never on 5 % of 20 seeds. " +
				"The runner-up is often with a median of 30 s, never on 20 % of 20 seeds; the difference is not significant (p = 0.38, paired by seed)."},
		{"recovery at once", open, 20, ByDrain, []runner{recoversIn("a", 0), recoversIn("b", 3)},
			"a wins on recovery time after the outage: at once (the same on all 20 seeds). " +
				"The runner-up is b with 3 s; the difference is significant (p < 0.001, paired by seed)."},
		{"recovery at once that does not count", open, 20, ByDrain, []runner{peaks(recoversIn("a", 0), 1086), recoversIn("b", 3)},
			"b wins on recovery time after the outage: 3 s (the same on all 20 seeds). No other strategy is fit to win. " +
				"a recovers first, at once, but is disqualified: its peak of 1,086 per 0.5 s after the outage is 362 × capacity, over the bound of 5 ×."},
		{"recovery that never comes", open, 20, ByDrain,
			[]runner{recovers("a", func(uint64) bool { return true }), recovers("b", func(uint64) bool { return true })},
			"Nobody wins on recovery time after the outage: none of a and b gets there within the run of 3,600 s."},
		{"an objective without a meaning", quiet, 20, ByDrain,
			[]runner{{"a", func(_ uint64, v *Values) { v[RecoveryTime] = Undefined }}},
			"Nobody wins on recovery time: it is undefined in this scenario; choose peak, attempts, latency or success."},
		{"no fault and no objective", quiet, 20, ByDefault, []runner{waits("a", 3), waits("b", 2)},
			"b wins (no fault, so judged by p99 latency): 2 s (the same on all 20 seeds). " +
				"The runner-up is a with 3 s; the difference is significant (p < 0.001, paired by seed)."},
		{"a fault and no objective", outage, 20, ByDefault, []runner{quick},
			"quick wins on drain time after the outage: 56.3 s (95 % interval 56.2 to 56.4 s over 20 seeds). It is the only strategy compared."},
		{"a time that never comes on half of the seeds does not win", open, 20, ByDrain,
			[]runner{recovers("a", func(s uint64) bool { return s%2 == 0 }), recovers("b", func(s uint64) bool { return s > 3 })},
			"Nobody wins on recovery time after the outage: none of a and b gets there on most seeds."},
		{"the only one that gets there", open, 20, ByDrain,
			[]runner{recovers("a", func(s uint64) bool { return s%2 == 0 }), recoversIn("b", 3)},
			"b wins on recovery time after the outage: 3 s (the same on all 20 seeds). No other strategy that is fit to win gets there on most seeds."},
		{"three are level", outage, 8, BySuccess, []runner{slow, {"thrifty", func(_ uint64, v *Values) { v[Attempts] = 120 }}, quick},
			"thrifty wins on success rate: 100 % (the same on all 8 seeds). " +
				"3 strategies are level on every seed, so fewer attempts decide; the runner-up, slow, makes more attempts (240 against 120)."},
		{"three are level in all", outage, 8, BySuccess, []runner{slow, drains("thrifty", 1, 0), quick},
			"slow wins on success rate: 100 % (the same on all 8 seeds). 3 strategies are level on every seed, so fewer attempts decide, and then the order of the table; the runner-up is thrifty."},
		{"three are level in attempts", outage, 8, ByAttempts, []runner{slow, drains("thrifty", 1, 0), quick},
			"slow wins on attempts: 240 attempts (the same on all 8 seeds). 3 strategies are level on every seed, so the order of the table decides; the runner-up is thrifty."},
		{"times of nanoseconds", outage, 20, ByDrain, []runner{drains("quick", 1.04e-7, 20e-9), drains("slow", 3e-6, 0)},
			"quick wins on drain time after the outage: 114 ns (95 % interval 109 to 119 ns over 20 seeds). " +
				"The runner-up is slow with 3 µs; the difference is significant (p < 0.001, paired by seed)."},
		{"a spread that rounds to nothing is not none", outage, 20, ByDrain, []runner{drains("quick", 100, 0.1)},
			"quick wins on drain time after the outage: 100 s (over 20 seeds). It is the only strategy compared."},
		{"thousands of seeds", outage, 4000, ByPeak, []runner{quick},
			"quick wins on peak after the outage: 6 attempts per second (the same on all 4,000 seeds). It is the only strategy compared."},
		{"bins of half a second", open, 20, ByPeak, []runner{quick, naive},
			"quick wins on peak after the outage: 6 attempts per 0.5 s (the same on all 20 seeds). No other strategy is fit to win. " +
				"Disqualified: naive (peak of 362 × capacity)."},
		{"without a fault nothing comes after it", quiet, 20, ByPeak, []runner{naive, {"low", func(_ uint64, v *Values) { v[Peak] = 12 }}},
			"low wins on peak: 12 attempts per 0.5 s (the same on all 20 seeds). " +
				"The runner-up is naive with 60 attempts per 0.5 s; the difference is significant (p < 0.001, paired by seed)."},
		{"without a fault nobody keeps to a bound", quiet, 20, ByPeak, []runner{fails(quick, 3)},
			"No strategy is fit to win: each one loses calls. Least bad is quick: it answers 95 % of the calls, but 3 of 60 calls fail. " +
				"Disqualified: quick (3 of 60 calls fail)."},
		{"nothing", outage, 20, ByPeak, nil, "There is nothing to compare."},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := contest(test.scenario, ascending(1, test.seeds), test.runners...)
			assert.Equal(t, test.want, Judge(r, test.by, DefaultMaxPeak).Sentence)
		})
	}
	r := contest(outage, ascending(1, 6), quick)
	r.Complete = false
	assert.Contains(t, Judge(r, ByDrain, 5).Sentence, "The comparison was interrupted, or a strategy failed; this is the verdict on the strategies that were finished. quick wins")
	r.Results = nil
	assert.Equal(t, "The comparison was interrupted, or failed, before any strategy was finished.", Judge(r, ByDrain, 5).Sentence)
}

// The least bad has no silent losses if any strategy has none, answers most of
// those, and is never named without what is wrong with it.
func TestLeastBad(t *testing.T) {
	plain := drains("", 60, 0)
	named := func(name string, r runner) runner { return runner{name, r.edit} }
	deceived := runner{"deceived", func(_ uint64, v *Values) { v[SilentLosses], v[SuccessRate] = 3, 0.95 }}
	for _, test := range []struct {
		runners []runner
		want    string
	}{
		{[]runner{deceived, named("half", fails(plain, 30))}, "half: it answers 50 % of the jobs and keeps to the bound, but 30 of 60 jobs fail."},
		{[]runner{named("half", fails(plain, 30)), named("tall", peaks(plain, 60))}, "tall: it answers 100 % of the jobs, but its peak of 60 per second"},
		{[]runner{named("both", peaks(fails(plain, 30), 60)), named("half", fails(plain, 30))}, "half: it answers 50 % of the jobs and keeps to the bound, but"},
		{[]runner{deceived}, "deceived: it answers 95 % of the jobs and keeps to the bound, but it takes 3 refusals for answers: silent losses."},
	} {
		v := Judge(contest(outage, ascending(1, 6), test.runners...), ByDrain, 5)
		assert.Equal(t, NoneFit, v.Outcome)
		assert.Contains(t, v.Sentence, "Least bad is "+test.want)
		assert.Regexp(t, "^"+v.LeastBad+":", test.want)
		assert.Nil(t, v.PValue, "there is nothing to compare")
	}
}

// The outcome says what the sentence says, for who draws a picture of it.
func TestOutcomes(t *testing.T) {
	quiet := outage
	quiet.OneShot, quiet.Faults = false, nil
	undefined := runner{"x", func(_ uint64, v *Values) { v[RecoveryTime] = Undefined }}
	never := runner{"x", func(_ uint64, v *Values) { v[DrainTime] = Never }}
	for want, r := range map[Outcome]*Result{
		Won: contest(outage, ascending(1, 2), drains("x", 1, 0)), NoneFit: contest(outage, ascending(1, 2), fails(drains("x", 1, 0), 1)),
		NoMeaning: contest(quiet, ascending(1, 2), undefined), Unreached: contest(outage, ascending(1, 2), never), Nothing: contest(outage, ascending(1, 2)),
	} {
		assert.Equal(t, want, Judge(r, ByDrain, 5).Outcome)
	}
	// Undefined seeds say nothing: of those that are left, never is not a win.
	mixed := runner{"x", func(seed uint64, v *Values) { v[DrainTime] = []float64{5, Never, Undefined, Undefined}[seed-1] }}
	assert.Equal(t, Unreached, Judge(contest(outage, ascending(1, 4), mixed), ByDrain, 5).Outcome)
	v := Judge(contest(quiet, ascending(1, 2), undefined), ByDefault, 5)
	assert.Equal(t, []any{"latency", "latency_p99", true}, []any{v.Objective, v.Metric, v.Fallback})
}

func TestReasons(t *testing.T) {
	plain := drains("x", 60, 0)
	for _, test := range []struct {
		runner runner
		want   string
	}{
		{fails(plain, 60), "all 60 jobs fail"},
		{fails(plain, 1), "1 of 60 jobs fails"},
		{runner{"x", func(_ uint64, v *Values) { v[Calls], v[FailedCalls] = 1, 1 }}, "its only job fails"},
		{runner{"x", func(_ uint64, v *Values) { v[Calls], v[PendingCalls], v[OverdueCalls], v[HungCalls] = 1, 1, 1, 1 }}, "its only job hangs: nothing is left to happen that would settle it"},
		{runner{"x", func(_ uint64, v *Values) { v[SilentLosses] = 1 }}, "it takes 1 refusal for an answer: silent losses"},
		{runner{"x", func(seed uint64, v *Values) { v[FailedCalls] = float64(seed % 2) }}, "0.5 of 60 jobs fail on average"},
		{runner{"x", func(_ uint64, v *Values) { v[Calls], v[SilentLosses] = 8819, 3012 }}, "it takes 3,012 refusals for answers: silent losses"},
		{runner{"x", func(_ uint64, v *Values) { v[Calls], v[PendingCalls], v[OverdueCalls] = 8819, 3, 3 }}, "3 of 8,819 jobs are still pending when the run ends"},
		{runner{"x", func(_ uint64, v *Values) { v[Calls], v[PendingCalls], v[OverdueCalls], v[HungCalls] = 20, 10, 10, 10 }}, "10 of 20 jobs hang: nothing is left to happen that would settle them"},
		{runner{"x", func(seed uint64, v *Values) { v[Calls], v[FailedCalls] = 60+float64(seed), 60+float64(seed) }}, "all the jobs fail"},
		{peaks(fails(plain, 60), 60), "all 60 jobs fail; its peak of 60 per second after the outage is 20 × capacity, over the bound of 5 ×"},
		{peaks(plain, 15), ""},
	} {
		v := Judge(contest(outage, ascending(1, 4), test.runner), ByDrain, 5)
		if test.want == "" {
			assert.Empty(t, v.Disqualified)
			assert.Equal(t, "x", v.Winner)
			continue
		}
		assert.Equal(t, []Disqualification{{"x", test.want}}, v.Disqualified)
		assert.Empty(t, v.Winner)
	}
	// Where calls keep coming some are always pending at the cut; only overdue
	// ones are lost.
	open := outage
	open.OneShot = false
	pending := func(overdue float64) runner {
		return runner{"x", func(_ uint64, v *Values) { v[Calls], v[PendingCalls], v[OverdueCalls] = 1000, 500, overdue }}
	}
	assert.Equal(t, "x", Judge(contest(open, ascending(1, 4), pending(0)), ByDrain, 5).Winner)
	assert.Equal(t, []Disqualification{{"x", "1 of 1,000 calls is overdue when the run ends"}},
		Judge(contest(open, ascending(1, 4), pending(1)), ByDrain, 5).Disqualified)
	// Without a capacity there is nothing to bound the peak by.
	unbounded := outage
	unbounded.Capacity = 0
	assert.Equal(t, "x", Judge(contest(unbounded, ascending(1, 4), peaks(plain, 1e6)), ByDrain, 5).Winner)
}

// Of five strategies that are alike, a winner's lead is significant on at most
// 5 % of all days, though winner and runner-up are chosen by the same data.
func TestWinnersOfLotteriesAreNotSignificant(t *testing.T) {
	const trials = 400
	found := 0
	for trial := range uint64(trials) {
		var runners []runner
		for k := range uint64(5) {
			runners = append(runners, runner{fmt.Sprint(k), func(seed uint64, v *Values) {
				v[DrainTime] = 100 + normal(draw.New(trial).For(seed), k)
			}})
		}
		if Judge(contest(outage, ascending(1, 12), runners...), ByDrain, 5).Significant {
			found++
		}
	}
	assert.LessOrEqual(t, float64(found)/trials, 0.05+4*math.Sqrt(0.05*0.95/trials))
}

// A verdict on results that lack what it needs is empty and not a panic.
func TestJudgeOfAnEmptyStrategy(t *testing.T) {
	r := &Result{Complete: true, Seeds: []uint64{1}, Results: []StrategyResult{{Strategy: "x"}, {Strategy: "y"}}}
	for o := range numObjectives {
		assert.Empty(t, Judge(r, o, 5).Winner)
	}
}
