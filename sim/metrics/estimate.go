package metrics

import "math"

// Estimate is one metric over the seeds. JSON has no infinity: a seed whose time
// never came is null in PerSeed, listed in NeverAt and counted in Never; one
// whose figure is undefined is null and counted in Undefined.
type Estimate struct {
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
func (f *Estimate) Vary() bool { return f.Lo != nil && f.Hi != nil && *f.Lo < *f.Hi }

// Estimates are the figures of one strategy by the name of their metric. They
// are written in the order of the metrics and not of the alphabet.
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

// absent returns the figure of an optional metric that a result of n seeds
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
