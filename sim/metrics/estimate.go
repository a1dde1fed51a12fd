package metrics

import "math"

// Estimate is one metric over the seeds. JSON has no infinity: a value that is
// never is null in PerSeed, listed in NeverAt and counted in Never; an undefined
// value is null and counted in Undefined.
type Estimate struct {
	Unit string `json:"unit"`
	// Mean is the mean over the seeds for which the value is defined, Lo to Hi its
	// 95 % interval. All three are nil if a value is never or if none is defined;
	// Lo and Hi are nil also if only one seed has a value.
	Mean *float64 `json:"mean"`
	Lo   *float64 `json:"lo"`
	Hi   *float64 `json:"hi"`
	// Median is the median over the same seeds, with never as infinity; nil if it
	// is infinite.
	Median *float64 `json:"median"`
	// Never and Undefined are shares of the seeds, 0 to 1.
	Never     float64 `json:"never"`
	Undefined float64 `json:"undefined"`
	// PerSeed is in the order of the result's seeds.
	PerSeed []*float64 `json:"per_seed"`
	// NeverAt are the positions in PerSeed, from 0, of the values that are never;
	// omitted in JSON if there are none.
	NeverAt []int `json:"never_at,omitempty"`
}

// Vary reports whether the defined values differ, so that the interval has a
// width.
func (f *Estimate) Vary() bool { return f.Lo != nil && f.Hi != nil && *f.Lo < *f.Hi }

// Estimates are the metrics of one strategy by name. They are written in the order
// of the metrics.
type Estimates map[string]Estimate

// Values returns the values by seed, with Never and Undefined in the place of
// null.
func (f *Estimate) Values() []float64 {
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

// Constant reports whether the value is defined and the same on every seed.
func (f *Estimate) Constant() bool {
	for _, x := range f.PerSeed {
		if x == nil || *x != *f.PerSeed[0] {
			return false
		}
	}
	return len(f.PerSeed) > 0
}

// absent returns the estimate of an optional metric that a result of n seeds
// omits.
func absent(m Metric, n int) Estimate {
	f := Estimate{Unit: m.Info().Unit, PerSeed: make([]*float64, n)}
	x := m.Absent()
	switch {
	case n == 0:
		return f
	case math.IsNaN(x):
		f.Undefined = 1
		return f
	}
	for i := range f.PerSeed {
		f.PerSeed[i] = &x
	}
	f.Mean, f.Median = &x, &x
	if n > 1 {
		f.Lo, f.Hi = &x, &x
	}
	return f
}
