package sweep_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/sim"
	"herdlab/sim/metrics"
	"herdlab/sim/sweep"
	"herdlab/sim/verdict"
)

func text(t *testing.T, r *metrics.Result) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b))
	return b.String()
}

func compare(t *testing.T, spec sweep.Spec) *metrics.Result {
	t.Helper()
	r, err := sweep.Compare(context.Background(), spec)
	require.NoError(t, err)
	return r
}

func TestCompareIsTheSameForAnyNumberOfCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	spec := secondPeak(short, firstSeeds(3), "naive", "full-jitter", "token-bucket", "five-tries")
	want := ""
	for _, cores := range []int{1, 2, 8, 1, 2, 8} {
		runtime.GOMAXPROCS(cores)
		got := text(t, compare(t, spec))
		if want == "" {
			want = got
		}
		require.Equal(t, want, got, "GOMAXPROCS=%d", cores)
	}
	spec.Workers = 50 // more workers than cells
	slices.Reverse(spec.Seeds)
	require.Equal(t, want, text(t, compare(t, spec)), "seeds in another order")
}

// The cells are those of experiments run one by one.
func TestCompareAgreesWithSingleRuns(t *testing.T) {
	spec := secondPeak(short, []uint64{11, 3}, "equal-jitter", "breaker+full-jitter")
	r := compare(t, spec)
	assert.Equal(t, []uint64{3, 11}, r.Seeds)
	assert.True(t, r.Complete)
	assert.Equal(t, spec.Scenario, r.Scenario)
	assert.Equal(t, spec.Tool, r.Tool)
	for i := range spec.Strategies {
		s := &r.Results[i]
		assert.Equal(t, spec.Strategies[i], sweep.Strategy{Name: s.Strategy, Summary: s.Summary})
		for k, seed := range r.Seeds {
			x, err := spec.New(i, seed)
			require.NoError(t, err)
			report, err := x.Run(context.Background())
			require.NoError(t, err)
			values := report.Values()
			for m := range metrics.Metric(metrics.NumMetrics) {
				if got := s.Estimate(m).PerSeed[k]; math.IsNaN(values[m]) || math.IsInf(values[m], 0) {
					assert.Nil(t, got, m.Info().Name)
				} else {
					assert.Equal(t, values[m], *got, m.Info().Name)
				}
			}
			if k == 0 {
				assert.Equal(t, report.Timeline(seed), s.Timeline)
			}
		}
	}
}

// The verdict on the reference experiment, on one seed.
func TestNaiveDrainsFirstAndIsDisqualified(t *testing.T) {
	r := compare(t, secondPeak(long, firstSeeds(1), "naive", "full-jitter", "five-tries"))
	v := r.Verdict
	assert.Equal(t, "full-jitter", v.Winner)
	assert.Empty(t, v.RunnerUp)
	assert.Equal(t, []metrics.Disqualification{{Strategy: "naive"}, {Strategy: "five-tries"}}, v.Disqualified)
	facts, err := verdict.Rejudge(r)
	require.NoError(t, err)
	assert.Equal(t, "naive", facts.Ranking[0].Name, "it drains first")
	assert.True(t, facts.Find("naive").Fitness.OverPeak())
	assert.InDelta(t, 360, facts.Find("naive").PeakMultiple, 0.5)
	assert.True(t, facts.Find("five-tries").Fitness.AllFail)
	assert.Equal(t, "naive", verdict.Judge(r, verdict.Rules{MaxPeak: 400}, nil, nil).Ranking[0].Name)
}

// The verdict is by the objective and the bound of the spec.
func TestCompareJudgesBySpec(t *testing.T) {
	spec := secondPeak(short, firstSeeds(8), "fixed-30s", "exponential", "full-jitter")
	spec.Rules = verdict.Rules{Objectives: []verdict.Objective{verdict.ByAttempts}, MaxPeak: 30}
	r := compare(t, spec)
	assert.Equal(t, verdict.Judge(r, spec.Rules, nil, nil).Record(), r.Verdict)
	assert.Equal(t, "attempts", r.Verdict.Objective)
	assert.Empty(t, r.Verdict.Disqualified)
	spec.Rules.MaxPeak = 0
	assert.Equal(t, verdict.DefaultMaxPeak, compare(t, spec).Verdict.MaxPeak)
}

// Comparisons of disjoint seeds merge into that of all seeds.
func TestComparisonsMerge(t *testing.T) {
	names := []string{"full-jitter", "five-tries", "decorrelated-jitter"}
	a := compare(t, secondPeak(short, []uint64{1, 4, 6, 7}, names...))
	b := compare(t, secondPeak(short, []uint64{2, 3, 5}, names...))
	want := text(t, compare(t, secondPeak(short, firstSeeds(7), names...)))
	ab, err := verdict.Merge(a, b)
	require.NoError(t, err)
	ba, err := verdict.Merge(b, a)
	require.NoError(t, err)
	assert.Equal(t, want, text(t, ab))
	assert.Equal(t, want, text(t, ba))
}

func TestInterruptedComparisonKeepsWhatIsComplete(t *testing.T) {
	names := []string{"full-jitter", "equal-jitter", "five-tries"}
	whole := compare(t, secondPeak(short, firstSeeds(5), names...))
	for _, stop := range []int{0, 3, 5, 9, 10, 15} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if stop == 0 {
			cancel()
		}
		spec := secondPeak(short, firstSeeds(5), names...)
		spec.Workers = 1
		spec.Progress = func(done, total int) {
			assert.Equal(t, 15, total)
			if done == stop {
				cancel()
			}
		}
		r, err := sweep.Compare(ctx, spec)
		require.NotNil(t, r)
		if stop == 15 {
			require.NoError(t, err, "all was done before the interrupt")
			assert.Equal(t, text(t, whole), text(t, r))
			continue
		}
		require.ErrorIs(t, err, context.Canceled)
		assert.False(t, r.Complete)
		assert.Equal(t, whole.Results[:stop/5], r.Results, "stopped after %d", stop)
	}
}

// Several workers do not stop at one cell, but only complete strategies are kept.
func TestInterruptWithSeveralWorkers(t *testing.T) {
	names := []string{"full-jitter", "equal-jitter", "five-tries"}
	whole := compare(t, secondPeak(short, firstSeeds(20), names...))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	spec := secondPeak(short, firstSeeds(20), names...)
	spec.Workers = 4
	spec.Progress = func(done, _ int) {
		if done == 30 {
			cancel()
		}
	}
	r, err := sweep.Compare(ctx, spec)
	require.ErrorIs(t, err, context.Canceled)
	assert.Less(t, len(r.Results), 3)
	for _, s := range r.Results { // a slow core may keep the first from being complete
		assert.Contains(t, whole.Results, s)
	}
}

// The errors are those of the first failing cell of each strategy, for any speed of
// workers, and the other strategies are compared.
func TestFailedStrategiesAreLeftOut(t *testing.T) {
	boom := errors.New("boom")
	names := []string{"full-jitter", "equal-jitter", "five-tries", "decorrelated-jitter"}
	whole := compare(t, secondPeak(short, firstSeeds(6), names...))
	for range 20 {
		spec := secondPeak(short, firstSeeds(6), names...)
		spec.Workers = 4
		plain := spec.New
		spec.New = func(strategy int, seed uint64) (*sim.Experiment, error) {
			if strategy == 1 && seed >= 3 || strategy == 2 {
				return nil, boom
			}
			return plain(strategy, seed)
		}
		last, told := 0, 0
		spec.Progress = func(done, total int) {
			assert.Equal(t, last+1, done)
			last = done
		}
		spec.Failed = func(err error) {
			assert.ErrorIs(t, err, boom)
			told++
		}
		r, err := sweep.Compare(context.Background(), spec)
		require.ErrorIs(t, err, boom)
		require.EqualError(t, err, `sweep: strategy "equal-jitter" with seed 3: boom`+"\n"+`sweep: strategy "five-tries" with seed 1: boom`)
		require.False(t, r.Complete)
		require.Len(t, r.Results, 2)
		require.Equal(t, whole.Results[0], r.Results[0])
		require.Equal(t, whole.Results[3], r.Results[1])
		require.Equal(t, 24, last, "what is skipped is dealt with")
		require.Equal(t, 2, told)
	}
	spec := secondPeak(short, firstSeeds(2), "full-jitter")
	spec.New = func(int, uint64) (*sim.Experiment, error) { return &sim.Experiment{}, nil }
	_, err := sweep.Compare(context.Background(), spec)
	assert.ErrorContains(t, err, `sweep: strategy "full-jitter" with seed 1: sim: `)
}

func TestProgressGrowsByOne(t *testing.T) {
	spec := secondPeak(short, firstSeeds(10), "full-jitter", "five-tries")
	spec.Workers = 8
	last := 0
	var inside atomic.Int32
	spec.Progress = func(done, total int) {
		assert.EqualValues(t, 1, inside.Add(1), "calls do not overlap")
		assert.Equal(t, last+1, done)
		assert.Equal(t, 20, total)
		last = done
		inside.Add(-1)
	}
	compare(t, spec)
	assert.Equal(t, 20, last)
}

func TestInvalidSpecs(t *testing.T) {
	for want, spoil := range map[string]func(s *sweep.Spec){
		"needs the function New":       func(s *sweep.Spec) { s.New = nil },
		"at least one strategy":        func(s *sweep.Spec) { s.Strategies = nil },
		"at least one seed":            func(s *sweep.Spec) { s.Seeds = nil },
		"seed 2 is there twice":        func(s *sweep.Spec) { s.Seeds = []uint64{2, 1, 2} },
		`"full-jitter" is there twice`: func(s *sweep.Spec) { s.Strategies = append(s.Strategies, s.Strategies[0]) },
		"strategy 1 has no name":       func(s *sweep.Spec) { s.Strategies[0].Name = "" },
		"-1 workers":                   func(s *sweep.Spec) { s.Workers = -1 },
		"not NaN":                      func(s *sweep.Spec) { s.Rules.MaxPeak = math.NaN() },
		"not +Inf":                     func(s *sweep.Spec) { s.Rules.MaxPeak = math.Inf(1) },
		"not -5":                       func(s *sweep.Spec) { s.Rules.MaxPeak = -5 },
	} {
		spec := secondPeak(short, firstSeeds(2), "full-jitter")
		spoil(&spec)
		r, err := sweep.Compare(context.Background(), spec)
		assert.Nil(t, r)
		assert.ErrorContains(t, err, want)
	}
}
