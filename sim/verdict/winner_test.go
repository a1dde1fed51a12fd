package verdict_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/verdict"
	"herdlab/sim/verdict/verdicttest"
)

// judged judges the strategies on the seeds 1 to seeds.
func judged(s metrics.Scenario, seeds uint64, o verdict.Objective, all ...verdicttest.Strategy) *verdict.Facts {
	return verdict.Judge(verdicttest.Result(s, verdicttest.Seeds(1, seeds), all...), o, verdict.DefaultMaxPeak)
}

func TestOutcomes(t *testing.T) {
	outage, quiet := verdicttest.Outage(), verdicttest.Outage()
	quiet.OneShot, quiet.Faults = false, nil
	drains := verdicttest.Drains("x", 1, 0)
	undefined := verdicttest.Strategy{Name: "x", Edit: func(_ uint64, v *metrics.Values) { v[metrics.RecoveryTime] = metrics.Undefined }}
	never := verdicttest.Strategy{Name: "x", Edit: func(_ uint64, v *metrics.Values) { v[metrics.DrainTime] = metrics.Never }}
	for want, f := range map[metrics.Outcome]*verdict.Facts{
		metrics.Won:       judged(outage, 2, verdict.ByDrain, drains),
		metrics.NoneFit:   judged(outage, 2, verdict.ByDrain, verdicttest.WithFailures(drains, 1)),
		metrics.NoMeaning: judged(quiet, 2, verdict.ByDrain, undefined),
		metrics.Unreached: judged(outage, 2, verdict.ByDrain, never),
		metrics.Nothing:   judged(outage, 2, verdict.ByDrain),
	} {
		assert.Equal(t, want, f.Outcome)
	}
	// Undefined values are ignored; of those that are left, never does not win.
	mixed := verdicttest.Strategy{Name: "x", Edit: func(seed uint64, v *metrics.Values) {
		v[metrics.DrainTime] = []float64{5, metrics.Never, metrics.Undefined, metrics.Undefined}[seed-1]
	}}
	assert.Equal(t, metrics.Unreached, judged(outage, 4, verdict.ByDrain, mixed).Outcome)
	v := judged(quiet, 2, verdict.ByDefault, undefined).Record()
	assert.Equal(t, []any{"latency", "latency_p99", true}, []any{v.Objective, v.Metric, v.Fallback})
}

func TestRanking(t *testing.T) {
	slow, quick := verdicttest.Drains("slow", 61, 2), verdicttest.Drains("quick", 56, 0.6)
	naive := verdicttest.WithPeak(verdicttest.Drains("naive", 20, 0), 1086)
	gaveUp := verdicttest.WithFailures(verdicttest.Drains("five-tries", 0, 0), 60)
	f := judged(verdicttest.Outage(), 20, verdict.ByDrain, slow, naive, gaveUp, quick)
	var names []string
	for _, c := range f.Ranking {
		names = append(names, c.Name)
	}
	assert.Equal(t, []string{"naive", "quick", "slow", "five-tries"}, names)
	assert.Equal(t, []string{"quick", "slow"}, []string{f.Winner.Name, f.RunnerUp.Name})
	assert.Equal(t, verdict.Better, f.Lead.Standing)
	assert.Equal(t, 1, f.Level)
	assert.Nil(t, f.LeastBad)
	assert.Equal(t, verdict.Fitness{OverPeak: true}, f.Find("naive").Fitness)
	assert.Equal(t, verdict.Fitness{AllFail: true, Failed: true}, f.Find("five-tries").Fitness)
	assert.True(t, f.Better(f.Find("naive"), f.Winner))
	assert.False(t, f.Better(f.Find("five-tries"), f.Winner))
	record := f.Record()
	assert.Equal(t, []metrics.Disqualification{{Strategy: "naive"}, {Strategy: "five-tries"}}, record.Disqualified)
	assert.Equal(t, []string{"quick", "slow"}, []string{record.Winner, record.RunnerUp})
	assert.True(t, record.Significant)

	f.Result.Verdict = record
	again, err := verdict.Rejudge(f.Result)
	require.NoError(t, err)
	assert.Equal(t, record, again.Record())
}

// The least bad strategy has no silent losses if any strategy has none, and
// answers most calls of those; of equals it exceeds the bound least.
func TestLeastBad(t *testing.T) {
	half := verdicttest.WithFailures(verdicttest.Drains("half", 60, 0), 30)
	deceived := verdicttest.Strategy{Name: "deceived", Edit: func(_ uint64, v *metrics.Values) {
		v[metrics.SilentLosses], v[metrics.SuccessRate] = 3, 0.95
	}}
	tall := verdicttest.WithPeak(verdicttest.Drains("tall", 60, 0), 60)
	both := verdicttest.WithPeak(verdicttest.WithFailures(verdicttest.Drains("both", 60, 0), 30), 60)
	for want, all := range map[string][]verdicttest.Strategy{
		"half": {both, deceived, half}, "tall": {half, tall}, "deceived": {deceived},
	} {
		f := judged(verdicttest.Outage(), 6, verdict.ByDrain, all...)
		assert.Equal(t, metrics.NoneFit, f.Outcome)
		assert.Equal(t, want, f.LeastBad.Name)
		assert.Nil(t, f.Record().PValue, "nothing is compared")
	}
	assert.Nil(t, judged(verdicttest.Outage(), 6, verdict.ByDrain, verdicttest.WithFailures(half, 60)).LeastBad)
}

// Where calls keep arriving, some are always pending at the cut: only overdue
// ones are lost. Without a capacity the peak has no bound.
func TestFitness(t *testing.T) {
	open, unbounded := verdicttest.Outage(), verdicttest.Outage()
	open.OneShot = false
	pending := func(overdue float64) verdicttest.Strategy {
		return verdicttest.Strategy{Name: "x", Edit: func(_ uint64, v *metrics.Values) {
			v[metrics.Calls], v[metrics.PendingCalls], v[metrics.OverdueCalls] = 1000, 500, overdue
		}}
	}
	assert.Equal(t, verdict.Fitness{}, judged(open, 4, verdict.ByDrain, pending(0)).Find("x").Fitness)
	assert.Equal(t, verdict.Fitness{Overdue: true}, judged(open, 4, verdict.ByDrain, pending(1)).Find("x").Fitness)
	unbounded.Capacity = 0
	tall := verdicttest.WithPeak(verdicttest.Drains("x", 60, 0), 1e6)
	assert.True(t, judged(unbounded, 4, verdict.ByDrain, tall).Find("x").Fitness.Fit())
}

// Of five strategies that are alike, a winner's lead is significant in at most
// 5 % of all comparisons, though winner and runner-up are chosen by the same data.
func TestLeadsOfEqualStrategiesAreNotSignificant(t *testing.T) {
	const trials = 400
	found := 0
	for trial := range uint64(trials) {
		var all []verdicttest.Strategy
		for k := range uint64(5) {
			all = append(all, verdicttest.Strategy{Name: fmt.Sprint(k), Edit: func(seed uint64, v *metrics.Values) {
				r := draw.New(trial).For(seed)
				var normal float64 // roughly: the sum of twelve uniform draws
				for i := range uint64(12) {
					normal += r.Float(12*k + i)
				}
				v[metrics.DrainTime] = 100 + normal - 6
			}})
		}
		if judged(verdicttest.Outage(), 12, verdict.ByDrain, all...).Lead.Standing == verdict.Better {
			found++
		}
	}
	assert.LessOrEqual(t, float64(found)/trials, 0.05+4*math.Sqrt(0.05*0.95/trials))
}

// A verdict on results that lack metrics has no winner and does not panic.
func TestJudgeOfAnEmptyStrategy(t *testing.T) {
	r := &metrics.Result{Complete: true, Seeds: []uint64{1}, Results: []metrics.StrategyResult{{Strategy: "x"}, {Strategy: "y"}}}
	for _, name := range verdict.ObjectiveNames() {
		o, err := verdict.ParseObjective(name)
		require.NoError(t, err)
		assert.Nil(t, verdict.Judge(r, o, 5).Winner)
	}
}
