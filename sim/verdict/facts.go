package verdict

import (
	"slices"

	"herdlab/sim/metrics"
)

// Facts are the conclusions from a result, as data.
type Facts struct {
	*metrics.Result
	// Rules are those that it was judged by, with their defaults.
	Rules Rules
	// Objective is the one that decided, Metric is what it compares in this
	// scenario.
	Objective Objective
	Metric    metrics.Metric
	// Fallback reports that no objective was chosen and that it is not ByDrain.
	Fallback bool
	// Outcome is whether there is a winner, and if not, why.
	Outcome metrics.Outcome
	// Ranking has all strategies, the best by the objective first, fit or not.
	Ranking []*Contestant
	// Leaders are the fit strategies that cannot be told from the best one, which is
	// among them, by name; empty if no fit strategy has a finite value of the
	// objective on most seeds.
	Leaders []*Contestant
	// Winner is the only leader; nil if there are none or several, or if fresh seeds
	// reversed the order. RunnerUp is the best of the other fit strategies with a
	// finite value on most seeds; nil if there is none.
	Winner, RunnerUp *Contestant
	// Lead compares the winner with the runner-up, seed by seed.
	Lead Difference
	// Rivals are the undecided strategies whose value is better than that of the
	// best leader, by name.
	Rivals []*Contestant
	// LeastBad is the strategy that comes closest to being fit if none is: of
	// those without silent losses, if there are any, the one with the highest
	// success rate; of equals, the one with the lowest herd peak. It is nil if a
	// strategy is fit or if none answers a call.
	LeastBad *Contestant
	// Fresh are the runs with seeds that took no part in the choice, nil if there
	// are none. FreshLead compares winner and runner-up on them.
	Fresh     *metrics.Extra
	FreshLead Difference
}

// Contestant is one strategy of a comparison.
type Contestant struct {
	Name    string
	Result  *metrics.StrategyResult
	Fitness Fitness
	// Value is that of the objective's metric, over all seeds that were run for the
	// choice.
	Value metrics.Estimate
	// PeakMultiple is the mean herd peak, × capacity; NaN if it is not judged.
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

// With returns the contestants with that answer, the best first.
func (f *Facts) With(a Answer) (all []*Contestant) {
	for _, c := range f.Ranking {
		if c.Fitness.Answer() == a {
			all = append(all, c)
		}
	}
	return all
}

// Fit returns the contestants that are fit to win, the best first.
func (f *Facts) Fit() []*Contestant { return f.With(Fit) }

// Alternatives returns the objectives that have a meaning for at least one
// strategy that is fit.
func (f *Facts) Alternatives() (all []Objective) {
	for o := range numObjectives {
		m := o.Metric(&f.Scenario)
		for _, c := range f.Fit() {
			if _, known := c.Result.Metrics[m.Info().Name]; !known {
				continue // an optional metric that no run has
			}
			if v := c.Result.Estimate(m); v.Mean != nil || v.Never > 0 {
				all = append(all, o)
				break
			}
		}
	}
	return all
}

// Contenders returns the names of the strategies that more seeds may tell apart:
// the leaders if there are several, and nothing otherwise.
func (f *Facts) Contenders() (names []string) {
	if len(f.Leaders) > 1 {
		for _, c := range f.Leaders {
			names = append(names, c.Name)
		}
	}
	return names
}

// Quoted returns the names of the strategies whose values the verdict quotes: the
// winner and the runner-up.
func (f *Facts) Quoted() (names []string) {
	for _, c := range []*Contestant{f.Winner, f.RunnerUp} {
		if f.Winner != nil && c != nil {
			names = append(names, c.Name)
		}
	}
	return names
}

// Record returns the verdict for a result file, without its text: Sentence and
// the reasons are empty.
func (f *Facts) Record() *metrics.Verdict {
	v := &metrics.Verdict{
		Objective: f.Objective.String(), Fallback: f.Fallback, Metric: f.Metric.Info().Name,
		MinSuccess: f.Rules.MinSuccess, MaxPeak: f.Rules.MaxPeak, MinDifference: f.Rules.MinDifference,
		Outcome:      f.Outcome,
		Significant:  f.Lead.Standing == Better,
		Leaders:      []string{},
		Disqualified: []metrics.Disqualification{},
		Fresh:        f.Fresh,
	}
	for _, o := range f.Rules.Objectives {
		v.Objectives = append(v.Objectives, o.String())
	}
	if f.Winner != nil {
		v.Winner = f.Winner.Name
	}
	if f.Winner != nil && f.RunnerUp != nil {
		p := f.Lead.P
		v.RunnerUp, v.PValue = f.RunnerUp.Name, &p
	}
	if f.LeastBad != nil {
		v.LeastBad = f.LeastBad.Name
	}
	for _, c := range f.Leaders {
		v.Leaders = append(v.Leaders, c.Name)
	}
	for i := range f.Results { // in the order of the result
		switch c := f.Find(f.Results[i].Strategy); c.Fitness.Answer() {
		case Unfit:
			v.Disqualified = append(v.Disqualified, metrics.Disqualification{Strategy: c.Name})
		case Undecided:
			v.Undecided = append(v.Undecided, metrics.Undecided{Strategy: c.Name, Seeds: c.Fitness.Seeds, Horizon: c.Fitness.Horizon})
		}
	}
	return v
}

// byName orders contestants by name.
func byName(all []*Contestant) []*Contestant {
	slices.SortFunc(all, func(a, b *Contestant) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
	return all
}
