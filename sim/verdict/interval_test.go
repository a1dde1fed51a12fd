package verdict

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/sim/draw"
	"herdlab/sim/metrics"
)

// sleep are the hours by which one drug prolonged the sleep of ten patients
// more than another, from the paper that introduced the t-test.
var sleep = []float64{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4}

// Student found the mean 1.58; R's manual (?t.test, data set sleep) gives its
// 95 % interval as 0.7001142 to 2.4598858.
func TestSummariseAgreesWithStudent(t *testing.T) {
	f := summarise(metrics.DrainTime, sleep)
	assert.InDelta(t, 1.58, *f.Mean, 1e-12)
	assert.InDelta(t, 0.7001142, *f.Lo, 1e-6)
	assert.InDelta(t, 2.4598858, *f.Hi, 1e-6)
	assert.InDelta(t, 1.3, *f.Median, 1e-12)
}

// The 97.5 % points of the printed tables, for 1, 4, 19 and 100 degrees.
func TestStudentQuantile(t *testing.T) {
	for freedom, want := range map[int]float64{1: 12.706, 4: 2.776, 19: 2.093, 100: 1.984} {
		assert.InDelta(t, want, studentQuantile(freedom), 0.0005, "%d", freedom)
	}
}

func TestSummarise(t *testing.T) {
	same := []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}
	for _, test := range []struct {
		name                   string
		values                 []float64
		mean, lo, hi, median   float64 // NaN for absent
		never, undefined       float64
		absentSeeds, seedCount int
	}{
		{"none", nil, metrics.Undefined, metrics.Undefined, metrics.Undefined, metrics.Undefined, 0, 0, 0, 0},
		{"one seed has no interval", []float64{3}, 3, metrics.Undefined, metrics.Undefined, 3, 0, 0, 0, 1},
		{"equal seeds have no spread", same, 0.1, 0.1, 0.1, 0.1, 0, 0, 0, 7},
		{"never once: a median, no mean", []float64{1, metrics.Never, 3}, metrics.Undefined, metrics.Undefined, metrics.Undefined, 3, 1.0 / 3, 0, 1, 3},
		{"never half the time", []float64{1, metrics.Never, 3, metrics.Never}, metrics.Undefined, metrics.Undefined, metrics.Undefined, metrics.Undefined, 0.5, 0, 2, 4},
		{"never", []float64{metrics.Never, metrics.Never}, metrics.Undefined, metrics.Undefined, metrics.Undefined, metrics.Undefined, 1, 0, 2, 2},
		{"undefined", []float64{metrics.Undefined, metrics.Undefined}, metrics.Undefined, metrics.Undefined, metrics.Undefined, metrics.Undefined, 0, 1, 2, 2},
		{"undefined once", []float64{5, metrics.Undefined, 5}, 5, 5, 5, 5, 0, 1.0 / 3, 1, 3},
		{"an interval is not negative", []float64{0, 1}, 0.5, 0, 0.5 + 12.706205*0.5, 0.5, 0, 0, 0, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := summarise(metrics.DrainTime, test.values)
			for what, pair := range map[string][2]float64{
				"mean": {test.mean, number64(f.Mean)}, "lo": {test.lo, number64(f.Lo)},
				"hi": {test.hi, number64(f.Hi)}, "median": {test.median, number64(f.Median)},
			} {
				if math.IsNaN(pair[0]) {
					assert.True(t, math.IsNaN(pair[1]), "%s must be absent, is %v", what, pair[1])
				} else {
					assert.Equal(t, pair[0], pair[1], what)
				}
			}
			assert.Equal(t, test.never, f.Never)
			assert.Equal(t, test.undefined, f.Undefined)
			require.Len(t, f.PerSeed, test.seedCount)
			absent := 0
			for i, x := range f.PerSeed {
				if x == nil {
					absent++
				} else {
					assert.Equal(t, test.values[i], *x)
				}
			}
			assert.Equal(t, test.absentSeeds, absent)
			// The values by seed are restored for tests and merges.
			for i, x := range f.Values() {
				if !math.IsNaN(x) || !math.IsNaN(test.values[i]) {
					assert.Equal(t, test.values[i], x)
				}
			}
		})
	}
}

func TestSummariseKeepsSharesBelowOne(t *testing.T) {
	f := summarise(metrics.SuccessRate, []float64{1, 1, 1, 0.9})
	assert.Equal(t, 1.0, *f.Hi)
	assert.Less(t, *f.Lo, *f.Mean)
}

// number64 is what p points to, NaN if nothing.
func number64(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// A 95 % interval covers the true mean in 95 % of all cases; tolerance four
// standard errors.
func TestIntervalsCoverTheMean(t *testing.T) {
	const trials = 3000
	for _, n := range []int{2, 5, 20} {
		covered := 0
		for trial := range uint64(trials) {
			r := draw.New(trial)
			xs := make([]float64, n)
			for i := range xs {
				xs[i] = 1000 + normal(r, uint64(i))
			}
			if f := summarise(metrics.DrainTime, xs); *f.Lo <= 1000 && 1000 <= *f.Hi {
				covered++
			}
		}
		assert.InDelta(t, 0.95, float64(covered)/trials, 4*math.Sqrt(0.95*0.05/trials), "%d seeds", n)
	}
}

// A result omits optional metrics that are absent on every seed; they read as
// absent.
func TestAbsentMetrics(t *testing.T) {
	var none, some metrics.Values
	none[metrics.FirstAlarm], some[metrics.FirstAlarm] = metrics.Undefined, metrics.Undefined
	none[metrics.Calls], some[metrics.Calls] = 5, 5
	s := metrics.StrategyResult{Metrics: Summarise([]metrics.Values{none, none})}
	assert.NotContains(t, s.Metrics, "hedges")
	assert.Len(t, s.Metrics, int(metrics.Hedges))
	hedges, first := s.Estimate(metrics.Hedges), s.Estimate(metrics.FirstAlarm)
	assert.Equal(t, 0.0, *hedges.Mean)
	assert.Len(t, hedges.PerSeed, 2)
	assert.Equal(t, 1.0, first.Undefined)
	some[metrics.Hedges] = 2
	s = metrics.StrategyResult{Metrics: Summarise([]metrics.Values{none, some})}
	assert.Equal(t, 1.0, *s.Metrics["hedges"].Mean, "a seed without is none, not undefined")
	assert.NotContains(t, s.Metrics, "spent")
}
