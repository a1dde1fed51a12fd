package verdict

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"herdlab/sim/metrics"
)

// Summarise returns the metrics of a strategy over its runs, one for each seed.
// It omits optional metrics that no run has.
func Summarise(values []metrics.Values) metrics.Estimates {
	figures := make(metrics.Estimates, metrics.NumMetrics)
	perSeed := make([]float64, len(values))
	for m := range metrics.Metric(metrics.NumMetrics) {
		for i := range values {
			perSeed[i] = values[i][m]
		}
		add(figures, m, perSeed)
	}
	return figures
}

// SummariseMetric returns one metric of a strategy over its runs.
func SummariseMetric(m metrics.Metric, values []metrics.Values) metrics.Estimate {
	perSeed := make([]float64, len(values))
	for i := range values {
		perSeed[i] = values[i][m]
	}
	return summarise(m, perSeed)
}

// JoinEstimates returns the metric over the runs of a and then those of b, which are of
// the same metric.
func JoinEstimates(a, b metrics.Estimate) metrics.Estimate {
	return summariseUnit(b.Unit, append(a.Values(), b.Values()...))
}

// add adds the summary of a metric, unless the metric is optional and absent on
// every seed.
func add(figures metrics.Estimates, m metrics.Metric, perSeed []float64) {
	absent := m.Absent()
	present := func(x float64) bool { return x != absent && !(math.IsNaN(x) && math.IsNaN(absent)) }
	if !m.Optional() || slices.ContainsFunc(perSeed, present) {
		figures[m.Info().Name] = summarise(m, perSeed)
	}
}

// summarise returns the summary of a metric from its values by seed, each of
// which may be Never or Undefined.
func summarise(m metrics.Metric, values []float64) metrics.Estimate {
	return summariseUnit(m.Info().Unit, values)
}

func summariseUnit(unit string, values []float64) metrics.Estimate {
	f := metrics.Estimate{Unit: unit, PerSeed: make([]*float64, len(values))}
	defined := make([]float64, 0, len(values))
	for i, x := range values {
		switch {
		case math.IsNaN(x):
			continue
		case math.IsInf(x, 0):
			f.NeverAt = append(f.NeverAt, i)
		default:
			f.PerSeed[i] = &x
		}
		defined = append(defined, x)
	}
	never := len(f.NeverAt)
	if len(values) > 0 {
		f.Never = float64(never) / float64(len(values))
		f.Undefined = float64(len(values)-len(defined)) / float64(len(values))
	}
	if len(defined) == 0 {
		return f
	}
	if never == 0 {
		mean, lo, hi := interval(defined)
		f.Mean = &mean
		if len(defined) > 1 {
			// No metric is negative and no share above 1, nor is its mean.
			lo = max(0, lo)
			if f.Unit == "share" {
				hi = min(1, hi)
			}
			f.Lo, f.Hi = &lo, &hi
		}
	}
	if m := median(defined); !math.IsInf(m, 0) {
		f.Median = &m
	}
	return f
}

// interval returns the mean of xs and its 95 % interval by Student's t.
func interval(xs []float64) (mean, lo, hi float64) {
	mean, standardError := meanError(xs)
	if len(xs) < 2 {
		return mean, math.Inf(-1), math.Inf(1)
	}
	half := float64(studentQuantile(len(xs)-1) * standardError)
	return mean, mean - half, mean + half
}

// meanError returns the mean of xs and its standard error s/√n, 0 for a
// single x. Sums are taken relative to the first value, so that equal values
// have exactly that mean and no spread.
func meanError(xs []float64) (mean, standardError float64) {
	n := float64(len(xs))
	var sum, squares float64
	for _, x := range xs {
		sum += x - xs[0]
	}
	mean = xs[0] + sum/n
	if len(xs) < 2 {
		return mean, 0
	}
	for _, x := range xs {
		d := x - mean
		squares += float64(d * d)
	}
	return mean, math.Sqrt(squares / (n - 1) / n)
}

// studentQuantile returns the 97.5 % quantile of Student's t with the given
// degrees of freedom ("The Probable Error of a Mean", Biometrika 6, 1908). It is
// rounded to six decimals, as tables are: the logarithms behind it differ in
// the last bit between processors, and results must not.
func studentQuantile(freedom int) float64 {
	t := distuv.StudentsT{Sigma: 1, Nu: float64(freedom)}.Quantile(0.975)
	return math.Round(t*1e6) / 1e6
}

// median returns the middle of xs, or the mean of the two in the middle.
func median(xs []float64) float64 {
	s := slices.Clone(xs)
	slices.Sort(s)
	a, b := s[(len(s)-1)/2], s[len(s)/2]
	if a == b {
		return a // also if both are infinite
	}
	return a + float64((b-a)/2)
}
