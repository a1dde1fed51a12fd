package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/sim/metrics"
	"herdlab/sim/verdict"
	"herdlab/sim/verdict/verdicttest"
)

// explained judges r and writes the verdict's text.
func explained(t *testing.T, r *metrics.Result, o verdict.Objective) *metrics.Verdict {
	t.Helper()
	r.Verdict = verdict.Judge(r, verdict.Rules{Objectives: []verdict.Objective{o}}, nil, nil).Record()
	require.NoError(t, Explain(r))
	return r.Verdict
}

func TestSentences(t *testing.T) {
	naive := verdicttest.WithPeak(verdicttest.Drains("naive", 20.001, 0), 1086)
	fixed := verdicttest.WithPeak(verdicttest.Drains("fixed", 272.951, 0), 60)
	tall := verdicttest.WithPeak(verdicttest.Drains("tall", 100, 0), 39.93)
	quick, slow := verdicttest.Drains("quick", 56, 0.6), verdicttest.Drains("slow", 61, 2)
	gaveUp := verdicttest.WithFailures(verdicttest.Drains("five-tries", 0, 0), 60)
	open := verdicttest.Outage()
	open.OneShot, open.Bin, open.Horizon = false, 0.5, 3600
	quiet := open
	quiet.Faults = nil
	recovers := func(name string, never func(seed uint64) bool) verdicttest.Strategy {
		return verdicttest.Strategy{Name: name, Edit: func(seed uint64, v *metrics.Values) {
			v[metrics.DrainTime] = metrics.Undefined
			if never(seed) {
				v[metrics.RecoveryTime] = metrics.Never
			}
		}}
	}
	recoversIn := func(name string, seconds float64) verdicttest.Strategy {
		return verdicttest.Strategy{Name: name, Edit: func(_ uint64, v *metrics.Values) {
			v[metrics.DrainTime], v[metrics.RecoveryTime] = metrics.Undefined, seconds
		}}
	}
	waits := func(name string, seconds float64) verdicttest.Strategy {
		return verdicttest.Strategy{Name: name, Edit: func(_ uint64, v *metrics.Values) {
			v[metrics.RecoveryTime], v[metrics.LatencyP99] = metrics.Undefined, seconds
		}}
	}
	var text strings.Builder
	for _, test := range []struct {
		name     string
		scenario metrics.Scenario
		seeds    uint64
		by       verdict.Objective
		runners  []verdicttest.Strategy
	}{
		{"the reference experiment", verdicttest.Outage(), 20, verdict.ByDrain, []verdicttest.Strategy{naive, fixed, tall, gaveUp, slow, quick}},
		{"one seed", verdicttest.Outage(), 1, verdict.ByDrain, []verdicttest.Strategy{slow, quick}},
		{"constant figures", verdicttest.Outage(), 6, verdict.ByDrain, []verdicttest.Strategy{verdicttest.Drains("a", 10, 0), verdicttest.Drains("b", 9, 0)}},
		{"level", verdicttest.Outage(), 8, verdict.BySuccess, []verdicttest.Strategy{slow, {Name: "thrifty", Edit: func(_ uint64, v *metrics.Values) { v[metrics.Attempts] = 120 }}}},
		{"equal strategies with random differences", verdicttest.Outage(), 20, verdict.ByDrain, []verdicttest.Strategy{verdicttest.Drains("a", 10, 4), verdicttest.Drains("b", 14, -3.8)}},
		{"only one is fit", verdicttest.Outage(), 20, verdict.ByAttempts, []verdicttest.Strategy{quick, verdicttest.WithFailures(slow, 12)}},
		{"only one is there", verdicttest.Outage(), 20, verdict.ByPeak, []verdicttest.Strategy{quick}},
		{"no strategy is fit", verdicttest.Outage(), 20, verdict.ByDrain, []verdicttest.Strategy{verdicttest.WithFailures(quick, 3), gaveUp, naive}},
		{"no strategy answers", verdicttest.Outage(), 20, verdict.ByDrain, []verdicttest.Strategy{gaveUp}},
		{"every peak is above the bound", verdicttest.Outage(), 20, verdict.ByDrain, []verdicttest.Strategy{naive, fixed}},
		{"recovery that sometimes never comes", open, 20, verdict.ByDrain,
			[]verdicttest.Strategy{recovers("often", func(s uint64) bool { return s%5 == 0 }), recovers("seldom", func(s uint64) bool { return s == 7 })}},
		{"recovery at once", open, 20, verdict.ByDrain, []verdicttest.Strategy{recoversIn("a", 0), recoversIn("b", 3)}},
		{"recovery at once that does not count", open, 20, verdict.ByDrain, []verdicttest.Strategy{verdicttest.WithPeak(recoversIn("a", 0), 1086), recoversIn("b", 3)}},
		{"recovery that never comes", open, 20, verdict.ByDrain,
			[]verdicttest.Strategy{recovers("a", func(uint64) bool { return true }), recovers("b", func(uint64) bool { return true })}},
		{"an objective without a meaning", quiet, 20, verdict.ByDrain,
			[]verdicttest.Strategy{{Name: "a", Edit: func(_ uint64, v *metrics.Values) { v[metrics.RecoveryTime] = metrics.Undefined }}}},
		{"no fault and no objective", quiet, 20, verdict.ByDefault, []verdicttest.Strategy{waits("a", 3), waits("b", 2)}},
		{"a fault and no objective", verdicttest.Outage(), 20, verdict.ByDefault, []verdicttest.Strategy{quick}},
		{"a time that never comes on half of the seeds does not win", open, 20, verdict.ByDrain,
			[]verdicttest.Strategy{recovers("a", func(s uint64) bool { return s%2 == 0 }), recovers("b", func(s uint64) bool { return s > 3 })}},
		{"the only one that gets there", open, 20, verdict.ByDrain,
			[]verdicttest.Strategy{recovers("a", func(s uint64) bool { return s%2 == 0 }), recoversIn("b", 3)}},
		{"three are level", verdicttest.Outage(), 8, verdict.BySuccess, []verdicttest.Strategy{slow, {Name: "thrifty", Edit: func(_ uint64, v *metrics.Values) { v[metrics.Attempts] = 120 }}, quick}},
		{"three are level in all", verdicttest.Outage(), 8, verdict.BySuccess, []verdicttest.Strategy{slow, verdicttest.Drains("thrifty", 1, 0), quick}},
		{"three are level in attempts", verdicttest.Outage(), 8, verdict.ByAttempts, []verdicttest.Strategy{slow, verdicttest.Drains("thrifty", 1, 0), quick}},
		{"times of nanoseconds", verdicttest.Outage(), 20, verdict.ByDrain, []verdicttest.Strategy{verdicttest.Drains("quick", 1.04e-7, 20e-9), verdicttest.Drains("slow", 3e-6, 0)}},
		{"a spread that rounds to nothing is not none", verdicttest.Outage(), 20, verdict.ByDrain, []verdicttest.Strategy{verdicttest.Drains("quick", 100, 0.1)}},
		{"thousands of seeds", verdicttest.Outage(), 4000, verdict.ByPeak, []verdicttest.Strategy{quick}},
		{"bins of half a second", open, 20, verdict.ByPeak, []verdicttest.Strategy{quick, naive}},
		{"without a fault nothing comes after it", quiet, 20, verdict.ByPeak, []verdicttest.Strategy{naive, {Name: "low", Edit: func(_ uint64, v *metrics.Values) { v[metrics.Peak] = 12 }}}},
		{"without a fault there is no bound on the peak", quiet, 20, verdict.ByPeak, []verdicttest.Strategy{verdicttest.WithFailures(quick, 3)}},
		{"nothing", verdicttest.Outage(), 20, verdict.ByPeak, nil},
	} {
		r := verdicttest.Result(test.scenario, verdicttest.Seeds(1, test.seeds), test.runners...)
		fmt.Fprintf(&text, "## %s\n%s\n\n", test.name, wrap(explained(t, r, test.by).Sentence, pageWidth, 0))
	}
	golden(t, "sentences.txt", text.String())
	r := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 6), quick)
	r.Complete = false
	assert.Contains(t, explained(t, r, verdict.ByDrain).Sentence, "The comparison was interrupted, or a strategy failed; this is the verdict on the complete strategies. quick is fit, and the only strategy compared")
	r.Results = nil
	assert.Equal(t, "The comparison was interrupted, or failed, before any strategy was complete.", explained(t, r, verdict.ByDrain).Sentence)
}

func TestLeastBadSentence(t *testing.T) {
	plain := verdicttest.Drains("", 60, 0)
	named := func(name string, r verdicttest.Strategy) verdicttest.Strategy {
		return verdicttest.Strategy{Name: name, Edit: r.Edit}
	}
	deceived := verdicttest.Strategy{Name: "deceived", Edit: func(_ uint64, v *metrics.Values) {
		v[metrics.SilentLosses], v[metrics.SuccessLower], v[metrics.SuccessUpper] = 3, 0.95, 0.95
	}}
	for _, test := range []struct {
		runners []verdicttest.Strategy
		want    string
	}{
		{[]verdicttest.Strategy{deceived, named("half", verdicttest.WithFailures(plain, 30))}, "half: it answers 50 % of the jobs and its peak stays under 5 × capacity, but 30 of 60 jobs fail."},
		{[]verdicttest.Strategy{named("half", verdicttest.WithFailures(plain, 30)), named("tall", verdicttest.WithPeak(plain, 60))}, "tall: it answers 100 % of the jobs, but its herd peak is 20 × capacity"},
		{[]verdicttest.Strategy{named("both", verdicttest.WithPeak(verdicttest.WithFailures(plain, 30), 60)), named("half", verdicttest.WithFailures(plain, 30))}, "half: it answers 50 % of the jobs and its peak stays under 5 × capacity, but"},
		{[]verdicttest.Strategy{deceived}, "deceived: it answers 95 % of the jobs and its peak stays under 5 × capacity, but it counted 3 refusals as answers (silent losses)."},
	} {
		v := explained(t, verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 6), test.runners...), verdict.ByDrain)
		assert.Equal(t, metrics.NoneFit, v.Outcome)
		assert.Contains(t, v.Sentence, "Least bad is "+test.want)
		assert.Regexp(t, "^"+v.LeastBad+":", test.want)
		assert.Nil(t, v.PValue, "there is nothing to compare")
	}
}

func TestReasons(t *testing.T) {
	plain := verdicttest.Drains("x", 60, 0)
	for _, test := range []struct {
		strategy verdicttest.Strategy
		want     string
	}{
		{verdicttest.WithFailures(plain, 60), "all 60 jobs fail"},
		{verdicttest.WithFailures(plain, 1), "1 of 60 jobs fails"},
		{verdicttest.Strategy{Name: "x", Edit: func(_ uint64, v *metrics.Values) { v[metrics.Calls], v[metrics.FailedCalls] = 1, 1 }}, "its only job fails"},
		{verdicttest.Strategy{Name: "x", Edit: func(_ uint64, v *metrics.Values) {
			v[metrics.Calls], v[metrics.PendingCalls], v[metrics.OverdueCalls], v[metrics.HungCalls] = 1, 1, 1, 1
		}}, "its only job hangs: no event is left that would end it"},
		{verdicttest.Strategy{Name: "x", Edit: func(_ uint64, v *metrics.Values) { v[metrics.SilentLosses] = 1 }}, "it counted 1 refusal as an answer (silent losses)"},
		{verdicttest.Strategy{Name: "x", Edit: func(seed uint64, v *metrics.Values) { v[metrics.FailedCalls] = float64(seed % 2) }}, "0.5 of 60 jobs fail on average"},
		{verdicttest.Strategy{Name: "x", Edit: func(_ uint64, v *metrics.Values) { v[metrics.Calls], v[metrics.SilentLosses] = 8819, 3012 }}, "it counted 3,012 refusals as answers (silent losses)"},
		{verdicttest.Strategy{Name: "x", Edit: func(_ uint64, v *metrics.Values) {
			v[metrics.Calls], v[metrics.PendingCalls], v[metrics.OverdueCalls] = 8819, 3, 3
		}}, "3 of 8,819 jobs are still pending when the run ends"},
		{verdicttest.Strategy{Name: "x", Edit: func(_ uint64, v *metrics.Values) {
			v[metrics.Calls], v[metrics.PendingCalls], v[metrics.OverdueCalls], v[metrics.HungCalls] = 20, 10, 10, 10
		}}, "10 of 20 jobs hang: no event is left that would end them"},
		{verdicttest.Strategy{Name: "x", Edit: func(seed uint64, v *metrics.Values) {
			v[metrics.Calls], v[metrics.FailedCalls] = 60+float64(seed), 60+float64(seed)
		}}, "all the jobs fail"},
		{verdicttest.WithPeak(verdicttest.WithFailures(plain, 60), 60), "all 60 jobs fail; its herd peak is 20 × capacity, above the bound of 5 ×"},
		{verdicttest.WithPeak(plain, 15), ""},
	} {
		strategy := test.strategy
		strategy.Edit = func(seed uint64, v *metrics.Values) {
			test.strategy.Edit(seed, v)
			if v[metrics.SuccessLower] == 1 && test.want != "" { // more than the bound allows
				v[metrics.SuccessLower], v[metrics.SuccessUpper] = 0.5, 0.5
			}
		}
		v := explained(t, verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 4), strategy), verdict.ByDrain)
		if test.want == "" {
			assert.Empty(t, v.Disqualified)
			assert.Equal(t, "x", v.Winner)
			continue
		}
		assert.Equal(t, []metrics.Disqualification{{Strategy: "x", Reason: test.want}}, v.Disqualified)
		assert.Empty(t, v.Winner)
	}
	// Where calls keep arriving, others may be pending and in service.
	open := verdicttest.Outage()
	open.OneShot = false
	overdue := verdicttest.Strategy{Name: "x", Edit: func(_ uint64, v *metrics.Values) {
		v[metrics.Calls], v[metrics.PendingCalls], v[metrics.OverdueCalls] = 1000, 500, 1
		v[metrics.SuccessLower], v[metrics.SuccessUpper] = 0.5, 0.5
	}}
	assert.Equal(t, []metrics.Disqualification{{Strategy: "x", Reason: "1 of 1,000 calls is overdue when the run ends"}},
		explained(t, verdicttest.Result(open, verdicttest.Seeds(1, 4), overdue), verdict.ByDrain).Disqualified)
}
