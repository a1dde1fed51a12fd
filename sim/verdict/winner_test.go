package verdict_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/verdict"
	"herdlab/sim/verdict/verdicttest"
)

// judged judges the strategies on the seeds 1 to seeds.
func judged(s metrics.Scenario, seeds uint64, o verdict.Objective, all ...verdicttest.Strategy) *verdict.Facts {
	return verdict.Judge(verdicttest.Result(s, verdicttest.Seeds(1, seeds), all...), by(o), nil, nil)
}

func by(all ...verdict.Objective) verdict.Rules { return verdict.Rules{Objectives: all} }

// edited returns a strategy with the given values.
func edited(name string, edit func(seed uint64, v *metrics.Values)) verdicttest.Strategy {
	return verdicttest.Strategy{Name: name, Edit: edit}
}

// answers returns a strategy of which a share of 1,000 judged calls is answered.
func answers(name string, lower, upper func(seed uint64) float64) verdicttest.Strategy {
	return edited(name, func(seed uint64, v *metrics.Values) {
		v[metrics.JudgedCalls], v[metrics.LongestWait] = 1000, 20
		v[metrics.SuccessLower], v[metrics.SuccessUpper] = lower(seed), upper(seed)
	})
}

func always(x float64) func(uint64) float64 { return func(uint64) float64 { return x } }

func TestOutcomes(t *testing.T) {
	outage, quiet := verdicttest.Outage(), verdicttest.Outage()
	quiet.OneShot, quiet.Faults = false, nil
	drains, slow := verdicttest.Drains("x", 1, 0), verdicttest.Drains("y", 2, 0)
	undefined := edited("x", func(_ uint64, v *metrics.Values) { v[metrics.RecoveryTime] = metrics.Undefined })
	never := edited("x", func(_ uint64, v *metrics.Values) { v[metrics.DrainTime] = metrics.Never })
	doubtful := answers("x", always(0.9), always(1))
	for want, f := range map[metrics.Outcome]*verdict.Facts{
		metrics.Won:        judged(outage, 8, verdict.ByDrain, drains, slow),
		metrics.OnlyFit:    judged(outage, 2, verdict.ByDrain, drains),
		metrics.Level:      judged(outage, 7, verdict.ByDrain, drains, slow),
		metrics.NoneFit:    judged(outage, 2, verdict.ByDrain, verdicttest.WithFailures(drains, 30)),
		metrics.NotDecided: judged(outage, 2, verdict.ByDrain, doubtful),
		metrics.NoMeaning:  judged(quiet, 2, verdict.ByDrain, undefined),
		metrics.Unreached:  judged(outage, 2, verdict.ByDrain, never),
		metrics.Nothing:    judged(outage, 2, verdict.ByDrain),
	} {
		assert.Equal(t, want, f.Outcome)
		if want != metrics.Won && want != metrics.OnlyFit {
			assert.Empty(t, f.Record().Winner)
		}
	}
	// Undefined values are ignored; of those that are left, never does not win.
	mixed := edited("x", func(seed uint64, v *metrics.Values) {
		v[metrics.DrainTime] = []float64{5, metrics.Never, metrics.Undefined, metrics.Undefined}[seed-1]
	})
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
	assert.Nil(t, f.LeastBad)
	assert.True(t, f.Find("naive").Fitness.OverPeak())
	assert.False(t, f.Find("naive").Fitness.LosesCalls())
	assert.True(t, f.Find("five-tries").Fitness.AllFail)
	assert.True(t, f.Better(f.Find("naive"), f.Winner))
	assert.False(t, f.Better(f.Find("five-tries"), f.Winner))
	record := f.Record()
	assert.Equal(t, []metrics.Disqualification{{Strategy: "naive"}, {Strategy: "five-tries"}}, record.Disqualified)
	assert.Equal(t, []string{"quick", "slow"}, []string{record.Winner, record.RunnerUp})
	assert.Equal(t, []string{"quick"}, record.Leaders)
	assert.True(t, record.Significant)

	f.Result.Verdict = record
	again, err := verdict.Rejudge(f.Result)
	require.NoError(t, err)
	assert.Equal(t, record, again.Record())
}

// A lead counts if it is larger than the least difference and significant.
func TestLeaders(t *testing.T) {
	a := verdicttest.Drains("a", 100, 1)
	for name, test := range map[string]struct {
		other verdicttest.Strategy
		rules verdict.Rules
		want  []string
	}{
		"far behind":               {verdicttest.Drains("b", 110, 1), verdict.Rules{}, []string{"a"}},
		"level":                    {verdicttest.Drains("b", 100, 1), verdict.Rules{}, []string{"a", "b"}},
		"behind by half a percent": {verdicttest.Drains("b", 100.5, 1), verdict.Rules{}, []string{"a", "b"}},
		"the same, if that counts": {verdicttest.Drains("b", 100.5, 1), verdict.Rules{MinDifference: 0.001}, []string{"a"}},
		"behind by chance":         {edited("b", func(seed uint64, v *metrics.Values) { v[metrics.DrainTime] = 90 + 25*float64(seed%2) }), verdict.Rules{}, []string{"a", "b"}},
		"never on some seeds": {edited("b", func(seed uint64, v *metrics.Values) {
			if v[metrics.DrainTime] = 100.5; seed%3 == 0 {
				v[metrics.DrainTime] = metrics.Never
			}
		}), verdict.Rules{}, []string{"a"}},
		"level, and more attempts": {edited("b", func(_ uint64, v *metrics.Values) { v[metrics.DrainTime], v[metrics.Attempts] = 100.5, 480 }),
			by(verdict.ByDrain, verdict.ByAttempts), []string{"a"}},
	} {
		r := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 20), a, test.other)
		assert.Equal(t, test.want, verdict.Judge(r, test.rules, nil, nil).Record().Leaders, name)
		slices.Reverse(r.Results)
		assert.Equal(t, test.want, verdict.Judge(r, test.rules, nil, nil).Record().Leaders, "%s, in reverse", name)
	}
}

// Runs with further seeds take part in the choice; runs with fresh seeds that reverse
// the order leave no winner.
func TestFurtherSeeds(t *testing.T) {
	near := func(name string, odd float64) verdicttest.Strategy {
		return edited(name, func(seed uint64, v *metrics.Values) { v[metrics.DrainTime] = 100 + odd*float64(seed%2) })
	}
	outage := verdicttest.Outage()
	r := verdicttest.Result(outage, verdicttest.Seeds(1, 8), near("a", 0), near("b", 4))
	f := verdict.Judge(r, verdict.Rules{}, nil, nil)
	assert.Equal(t, []string{"a", "b"}, f.Contenders(), "four seeds that differ tell nothing")
	assert.Empty(t, f.Quoted())
	more := extra(9, 24, near("a", 0), near("b", 4))
	f = verdict.Judge(r, verdict.Rules{}, more, nil)
	assert.Empty(t, f.Contenders())
	assert.Equal(t, []string{"a", "b"}, f.Quoted())
	assert.Len(t, f.Winner.Value.PerSeed, 24)

	fresh := extra(25, 32, near("a", 2), near("b", 8))
	f = verdict.Judge(r, verdict.Rules{}, more, fresh)
	assert.Equal(t, "a", f.Winner.Name)
	assert.Equal(t, fresh, f.Record().Fresh)
	f = verdict.Judge(r, verdict.Rules{}, more, extra(25, 32, near("a", 9), near("b", 8)))
	assert.Nil(t, f.Winner)
	assert.Equal(t, metrics.NotConfirmed, f.Outcome)
	assert.Equal(t, []string{"a", "b"}, f.Record().Leaders)
}

// extra returns runs of the strategies with the seeds from first to last.
func extra(first, last uint64, all ...verdicttest.Strategy) *metrics.Extra {
	r := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(first, last), all...)
	e := &metrics.Extra{Seeds: r.Seeds, Values: map[string]metrics.Estimate{}}
	for i := range r.Results {
		e.Values[r.Results[i].Strategy] = r.Results[i].Estimate(metrics.DrainTime)
	}
	return e
}

// The least bad strategy has no silent losses if any strategy has none, and
// answers most calls of those; of equals it exceeds the bound least.
func TestLeastBad(t *testing.T) {
	half := verdicttest.WithFailures(verdicttest.Drains("half", 60, 0), 30)
	deceived := edited("deceived", func(_ uint64, v *metrics.Values) {
		v[metrics.SilentLosses], v[metrics.SuccessRate], v[metrics.SuccessLower], v[metrics.SuccessUpper] = 3, 0.95, 0.95, 0.95
	})
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

// The bound on success has three answers, and says what it takes to decide.
func TestSuccess(t *testing.T) {
	for name, test := range map[string]struct {
		strategy verdicttest.Strategy
		min      float64
		want     verdict.Answer
		seeds    bool
		horizon  float64
	}{
		"none is lost":                    {answers("x", always(1), always(1)), 0, verdict.Fit, false, 0},
		"one in 20,000 is lost":           {answers("x", func(s uint64) float64 { return 1 - 0.001*float64(s/20) }, func(s uint64) float64 { return 1 - 0.001*float64(s/20) }), 0, verdict.Fit, false, 0},
		"nine in 10,000 are lost":         {answers("x", func(s uint64) float64 { return 1 - 0.0018*float64(s%2) }, func(s uint64) float64 { return 1 - 0.0018*float64(s%2) }), 0, verdict.Undecided, true, 0},
		"two in 100 are lost":             {answers("x", always(0.98), always(0.98)), 0, verdict.Unfit, false, 0},
		"two in 100 may be lost":          {answers("x", always(0.98), always(0.98)), 0.95, verdict.Fit, false, 0},
		"some still wait":                 {answers("x", always(0.9), always(1)), 0, verdict.Undecided, false, 220},
		"they wait, and it does not help": {answers("x", always(0.9), always(0.95)), 0, verdict.Unfit, false, 0},
		"they wait, and it does not harm": {answers("x", always(0.99), always(1)), 0.95, verdict.Fit, false, 0},
	} {
		r := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 20), test.strategy)
		f := verdict.Judge(r, verdict.Rules{MinSuccess: test.min}, nil, nil).Find("x").Fitness
		assert.Equal(t, test.want, f.Success, name)
		assert.Equal(t, test.want, f.Answer(), name)
		assert.Equal(t, test.seeds, f.Seeds > 20, name)
		assert.Equal(t, test.horizon, f.Horizon, name)
	}
	none := edited("x", func(_ uint64, v *metrics.Values) {
		v[metrics.Calls], v[metrics.JudgedCalls], v[metrics.SuccessLower], v[metrics.SuccessUpper] = 0, 0, metrics.Undefined, metrics.Undefined
	})
	assert.Equal(t, metrics.NotDecided, judged(verdicttest.Outage(), 20, verdict.ByDrain, none).Outcome, "without calls nobody wins")
}

// The bound on the peak has three answers; without a capacity it does not apply.
func TestPeak(t *testing.T) {
	peaks := func(even, odd float64) verdicttest.Strategy {
		return edited("x", func(seed uint64, v *metrics.Values) {
			v[metrics.HerdPeakOfCapacity] = even
			if seed%2 == 1 {
				v[metrics.HerdPeakOfCapacity] = odd
			}
		})
	}
	answer := func(s metrics.Scenario, seeds uint64, x verdicttest.Strategy) verdict.Fitness {
		return judged(s, seeds, verdict.ByDrain, x).Find("x").Fitness
	}
	outage, unbounded := verdicttest.Outage(), verdicttest.Outage()
	assert.Equal(t, verdict.Fit, answer(outage, 20, peaks(5, 5)).Peak)
	assert.Equal(t, verdict.Unfit, answer(outage, 20, peaks(5.1, 5.1)).Peak)
	doubtful := answer(outage, 20, peaks(2, 7.5))
	assert.Equal(t, verdict.Undecided, doubtful.Peak)
	assert.Greater(t, doubtful.Seeds, 20)
	assert.Equal(t, verdict.Fit, answer(outage, 1, peaks(5, 5)).Peak, "one seed has no interval")
	unbounded.Capacity = 0
	tall := verdicttest.WithPeak(verdicttest.Drains("x", 60, 0), 1e6)
	f := answer(unbounded, 4, tall)
	assert.Equal(t, verdict.NotJudged, f.Peak)
	assert.Equal(t, verdict.Fit, f.Answer())
}

// A strategy whose clients wait instead of calling again answers fewer calls, and
// cannot win by that.
func TestFewerAnswersDoNotWin(t *testing.T) {
	endless := verdicttest.Outage()
	endless.OneShot, endless.Faults, endless.Endless = false, nil, true
	serves := func(name string, latency, goodput float64) verdicttest.Strategy {
		return edited(name, func(seed uint64, v *metrics.Values) {
			v[metrics.LatencyP99], v[metrics.Goodput] = latency, goodput+0.001*float64(seed)
		})
	}
	f := judged(endless, 20, verdict.ByLatency, serves("busy", 10, 3), serves("idle", 1, 1), serves("nearly", 5, 2.9))
	assert.True(t, f.Find("idle").Fitness.Fewer)
	assert.False(t, f.Find("nearly").Fitness.Fewer)
	assert.Equal(t, "nearly", f.Winner.Name)
	endless.Endless = false
	assert.Equal(t, "idle", judged(endless, 20, verdict.ByLatency, serves("busy", 10, 3), serves("idle", 1, 1)).Winner.Name)
}

// Of eight strategies that are alike, one is starred in at most 1 % of all
// comparisons.
func TestEqualStrategiesHaveNoWinner(t *testing.T) {
	const trials = 400
	found := 0
	for trial := range uint64(trials) {
		var all []verdicttest.Strategy
		for k := range uint64(8) {
			all = append(all, edited(fmt.Sprint(k), func(seed uint64, v *metrics.Values) {
				r := draw.New(trial).For(seed)
				var normal float64 // roughly: the sum of twelve uniform draws
				for i := range uint64(12) {
					normal += r.Float(12*k + i)
				}
				v[metrics.DrainTime] = 100 + 20*(normal-6)
			}))
		}
		if judged(verdicttest.Outage(), 12, verdict.ByDrain, all...).Winner != nil {
			found++
		}
	}
	assert.LessOrEqual(t, float64(found)/trials, 0.01)
}

// The better strategy is the winner in at least 95 % of all comparisons if its lead is
// more than 5 % and more than four standard errors of the difference.
func TestTheBetterStrategyWins(t *testing.T) {
	const trials = 200
	found := 0
	for trial := range uint64(trials) {
		noisy := func(name string, k uint64, mean float64) verdicttest.Strategy {
			return edited(name, func(seed uint64, v *metrics.Values) {
				r := draw.New(trial).For(seed)
				var normal float64
				for i := range uint64(12) {
					normal += r.Float(12*k + i)
				}
				v[metrics.DrainTime] = mean + 4*(normal-6)
			})
		}
		// The standard error of the difference is 4·√(2/20) = 1.26.
		f := judged(verdicttest.Outage(), 20, verdict.ByDrain, noisy("a", 0, 100), noisy("b", 1, 106), noisy("c", 2, 110))
		if f.Winner != nil && f.Winner.Name == "a" {
			found++
		}
	}
	assert.GreaterOrEqual(t, float64(found)/trials, 0.95)
}

// Neither the order of the strategies nor a hopeless one changes a verdict.
func TestVerdictsDoNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []verdicttest.Strategy
		for k := range rapid.IntRange(2, 6).Draw(t, "strategies") {
			mean := float64(rapid.SampledFrom([]int{50, 51, 60}).Draw(t, "mean"))
			spread := rapid.SampledFrom([]float64{0, 1, 10}).Draw(t, "spread")
			peak := rapid.SampledFrom([]float64{1, 4.9, 7}).Draw(t, "peak")
			lost := rapid.SampledFrom([]float64{0, 0, 0.002, 0.1}).Draw(t, "lost")
			all = append(all, edited(fmt.Sprint("s", k), func(seed uint64, v *metrics.Values) {
				r := draw.New(seed).For(uint64(k))
				v[metrics.DrainTime] = mean + spread*r.Float(0)
				v[metrics.HerdPeakOfCapacity] = peak * (0.9 + 0.2*r.Float(1))
				v[metrics.SuccessLower], v[metrics.SuccessUpper] = 1-lost*r.Float(2), 1-lost*r.Float(2)
			}))
		}
		record := func(all []verdicttest.Strategy) *metrics.Verdict {
			v := judged(verdicttest.Outage(), 12, verdict.ByDrain, all...).Record()
			slices.SortFunc(v.Disqualified, func(a, b metrics.Disqualification) int { return strings.Compare(a.Strategy, b.Strategy) })
			slices.SortFunc(v.Undecided, func(a, b metrics.Undecided) int { return strings.Compare(a.Strategy, b.Strategy) })
			return v
		}
		want := record(all)
		require.Equal(t, want, record(rapid.Permutation(all).Draw(t, "order")))
		got := record(append(all, verdicttest.WithFailures(verdicttest.Drains("z", 1, 0), 60)))
		require.Equal(t, []any{want.Winner, want.Leaders}, []any{got.Winner, got.Leaders})
	})
}

// A verdict on results that lack metrics has no winner and does not panic.
func TestJudgeOfAnEmptyStrategy(t *testing.T) {
	r := &metrics.Result{Complete: true, Seeds: []uint64{1}, Results: []metrics.StrategyResult{{Strategy: "x"}, {Strategy: "y"}}}
	for _, name := range verdict.ObjectiveNames() {
		o, err := verdict.ParseObjective(name)
		require.NoError(t, err)
		assert.Nil(t, verdict.Judge(r, by(o), nil, nil).Winner)
	}
}
