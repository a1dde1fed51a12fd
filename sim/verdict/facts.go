package verdict

import "herdlab/sim/metrics"

// Facts are the conclusions from a result, as data.
type Facts struct {
	*metrics.Result
	// Objective decides between the strategies that are fit, Metric is what it
	// compares in this scenario.
	Objective Objective
	Metric    metrics.Metric
	// Fallback reports that no objective was chosen and that it is not ByDrain.
	Fallback bool
	// MaxPeak is the bound on the peak after the last fault, × capacity.
	MaxPeak float64
	// Outcome is whether there is a winner, and if not, why.
	Outcome metrics.Outcome
	// Ranking has all strategies, the best by the objective first, fit or not.
	Ranking []*Contestant
	// Winner and RunnerUp are the first two that are fit and have a finite value
	// on most seeds; nil if there is none.
	Winner, RunnerUp *Contestant
	// Lead compares the winner with the runner-up, seed by seed.
	Lead Difference
	// Level is the number of fit strategies that equal the winner on every seed,
	// the winner included.
	Level int
	// LeastBad is the strategy that comes closest to being fit if none is: of
	// those without silent losses, if there are any, the one with the highest
	// success rate; of equals, one that keeps the bound on the peak or else
	// exceeds it least. It is nil if a strategy is fit or if none answers a call.
	LeastBad *Contestant
}

// Contestant is one strategy of a comparison.
type Contestant struct {
	Name    string
	Result  *metrics.StrategyResult
	Fitness Fitness
	// Value is that of the objective's metric.
	Value metrics.Estimate
	// PeakMultiple is the mean peak after the last fault, × capacity; NaN if the
	// bound on it does not apply.
	PeakMultiple float64
}

// Find returns the contestant with the given name, nil if there is none.
func (f *Facts) Find(name string) *Contestant {
	for _, c := range f.Ranking {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Fit returns the contestants that are fit to win, the best first.
func (f *Facts) Fit() (fit []*Contestant) {
	for _, c := range f.Ranking {
		if c.Fitness.Fit() {
			fit = append(fit, c)
		}
	}
	return fit
}

// Alternatives returns the objectives that have a meaning for at least one
// strategy that is fit.
func (f *Facts) Alternatives() (all []Objective) {
	for o := range numObjectives {
		m := o.Metric(&f.Scenario)
		for _, c := range f.Fit() {
			if v := c.Result.Estimate(m); v.Mean != nil || v.Never > 0 {
				all = append(all, o)
				break
			}
		}
	}
	return all
}

// Record returns the verdict for a result file, without its text: Sentence and
// the reasons are empty.
func (f *Facts) Record() *metrics.Verdict {
	v := &metrics.Verdict{
		Objective: f.Objective.String(), Fallback: f.Fallback, Metric: f.Metric.Info().Name,
		MaxPeak: f.MaxPeak, Outcome: f.Outcome,
		Significant:  f.Lead.Standing == Better,
		Disqualified: []metrics.Disqualification{},
	}
	if f.Winner != nil {
		v.Winner = f.Winner.Name
	}
	if f.RunnerUp != nil {
		p := f.Lead.P
		v.RunnerUp, v.PValue = f.RunnerUp.Name, &p
	}
	if f.LeastBad != nil {
		v.LeastBad = f.LeastBad.Name
	}
	for i := range f.Results { // in the order of the result
		if c := f.Find(f.Results[i].Strategy); !c.Fitness.Fit() {
			v.Disqualified = append(v.Disqualified, metrics.Disqualification{Strategy: c.Name})
		}
	}
	return v
}
