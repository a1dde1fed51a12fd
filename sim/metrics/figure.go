package metrics

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Figure is one metric over the seeds. JSON has no infinity: a seed whose time
// never came is null in PerSeed, listed in NeverAt and counted in Never; one
// whose figure is undefined is null and counted in Undefined.
type Figure struct {
	Unit string `json:"unit"`
	// Mean over the seeds for which the figure is defined, with the 95 %
	// interval Lo to Hi of that mean. All three are absent if the figure never
	// came for some seed or is defined for none; Lo and Hi are absent also if
	// it is defined for one seed only, which says nothing about the others.
	Mean *float64 `json:"mean"`
	Lo   *float64 `json:"lo"`
	Hi   *float64 `json:"hi"`
	// Median over the same seeds counts never as infinity; absent if it is
	// itself infinite.
	Median *float64 `json:"median"`
	// Never and Undefined are shares of the seeds, 0 to 1.
	Never     float64 `json:"never"`
	Undefined float64 `json:"undefined"`
	// PerSeed is in the order of the result's seeds.
	PerSeed []*float64 `json:"per_seed"`
	// NeverAt are the positions in PerSeed, from 0, of the seeds whose time
	// never came; absent from JSON if there are none.
	NeverAt []int `json:"never_at,omitempty"`
}

// Vary reports whether the seeds for which the figure is defined differ: then
// its interval has a width.
func (f *Figure) Vary() bool { return f.Lo != nil && f.Hi != nil && *f.Lo < *f.Hi }

// Figures are the figures of one strategy by the name of their metric. They
// are written in the order of the metrics and not of the alphabet.
type Figures map[string]Figure

// Summarise draws the figures of a strategy from its runs, one for each seed.
// It leaves out optional metrics that no run has.
func Summarise(values []Values) Figures {
	figures := make(Figures, NumMetrics)
	perSeed := make([]float64, len(values))
	for m := range Metric(NumMetrics) {
		for i := range values {
			perSeed[i] = values[i][m]
		}
		figures.add(m, perSeed)
	}
	return figures
}

// add adds the figure of one metric, unless it may be left out.
func (f Figures) add(m Metric, perSeed []float64) {
	if slices.ContainsFunc(perSeed, func(x float64) bool { return !m.isAbsent(x) }) || !m.optional() {
		f[m.Info().Name] = summarise(m, perSeed)
	}
}

// summarise draws the figure of one metric from its values by seed, which may
// be Never or Undefined.
func summarise(m Metric, values []float64) Figure {
	f := Figure{Unit: m.Info().Unit, PerSeed: make([]*float64, len(values))}
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
		mean, standardError := meanError(defined)
		f.Mean = &mean
		if len(defined) > 1 {
			half := float64(studentQuantile(len(defined)-1) * standardError)
			// No figure is negative and no share above 1, nor is its mean.
			lo, hi := max(0, mean-half), mean+half
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

// values returns the figure by seed with Never and Undefined put back.
func (f *Figure) values() []float64 {
	values := make([]float64, len(f.PerSeed))
	for i, x := range f.PerSeed {
		values[i] = Undefined
		if x != nil {
			values[i] = *x
		}
	}
	for _, i := range f.NeverAt {
		values[i] = Never
	}
	return values
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

// studentQuantile returns the 97.5 % point of Student's t with so many degrees
// of freedom ("The Probable Error of a Mean", Biometrika 6, 1908): the 95 %
// interval of a mean is that many standard errors to either side. It is
// rounded to the six decimals that tables print, since the logarithms behind
// it differ in the last bit between processors, and results must not.
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
