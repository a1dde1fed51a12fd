package verdict

import (
	"cmp"
	"math"
	"slices"

	"herdlab/sim/metrics"
)

// Judge returns the conclusions from r by the objective o and the bound maxPeak
// on the peak after the last fault, × capacity.
//
// The winner is the first in the ranking that is fit and whose value of the
// objective is finite on more than half of the seeds, that is, whose median is
// finite. Strategies are ranked by the mean. Those whose value is never on some
// seed come behind all others, ordered by the median and then by the share of
// never. Equals are ordered by their attempts, because each attempt has a cost.
//
// The winner is compared with the runner-up, seed by seed. Choosing the two by
// the same data does not make a random lead significant: the best is further
// from each of the others than from the second (Gutmann and Maymin, "Is the
// selected population the best?", Annals of Statistics 15, 1987).
func Judge(r *metrics.Result, o Objective, maxPeak float64) *Facts {
	f := &Facts{Result: r, Fallback: o == ByDefault && o.In(&r.Scenario) != ByDrain, MaxPeak: maxPeak}
	f.Objective = o.In(&r.Scenario)
	f.Metric = f.Objective.Metric(&r.Scenario)
	for i := range r.Results {
		f.Ranking = append(f.Ranking, f.contestant(&r.Results[i]))
	}
	slices.SortStableFunc(f.Ranking, f.compare)
	for _, c := range f.Ranking {
		switch {
		case !c.Fitness.Fit() || !c.finite():
		case f.Winner == nil:
			f.Winner = c
		case f.RunnerUp == nil:
			f.RunnerUp = c
		}
	}
	if f.RunnerUp != nil {
		f.Lead = f.difference(f.Winner, f.RunnerUp)
	}
	f.Level = f.level()
	f.LeastBad = f.leastBad()
	f.Outcome = f.outcome()
	return f
}

// Rejudge judges r by the objective and the bound of the verdict that r records.
func Rejudge(r *metrics.Result) (*Facts, error) {
	o, err := ParseObjective(r.Verdict.Objective)
	if err != nil {
		return nil, err
	}
	if r.Verdict.Fallback {
		o = ByDefault
	}
	return Judge(r, o, r.Verdict.MaxPeak), nil
}

func (f *Facts) contestant(s *metrics.StrategyResult) *Contestant {
	c := &Contestant{
		Name: s.Strategy, Result: s, Fitness: fitness(s, f.MaxPeak),
		Value: s.Estimate(f.Metric), PeakMultiple: meanOf(s, metrics.PeakAfterOfCapacity),
	}
	if c.Value.Mean == nil && c.Value.Never == 0 {
		c.Value.Undefined = 1 // also if the result lacks it
	}
	return c
}

// finite reports whether the objective's value is finite on most seeds.
func (c *Contestant) finite() bool { return c.Value.Mean != nil || c.Value.Median != nil }

// Better reports whether the value of a is defined on every seed and better than
// that of b, whichever is fit.
func (f *Facts) Better(a, b *Contestant) bool {
	return a.rank() == 0 && (b.rank() > 0 || f.score(a) < f.score(b))
}

// compare orders contestants, the best first.
func (f *Facts) compare(a, b *Contestant) int {
	return cmp.Or(
		cmp.Compare(a.rank(), b.rank()),
		cmp.Compare(f.score(a), f.score(b)),
		cmp.Compare(a.Value.Never, b.Value.Never),
		cmp.Compare(meanOf(a.Result, metrics.Attempts), meanOf(b.Result, metrics.Attempts)),
	)
}

// rank returns 0 for values that are finite on every seed, 1 for those that are
// never on some, 2 for those that are undefined.
func (c *Contestant) rank() int {
	switch {
	case c.Value.Undefined == 1:
		return 2
	case c.Value.Never > 0:
		return 1
	}
	return 0
}

// score returns the key that orders contestants of one rank: less is better.
func (f *Facts) score(c *Contestant) float64 {
	switch {
	case c.Value.Mean != nil:
		return *c.Value.Mean * f.Objective.sign()
	case c.Value.Median != nil:
		return *c.Value.Median * f.Objective.sign()
	}
	return math.Inf(1)
}

// difference compares a with b, seed by seed.
func (f *Facts) difference(a, b *Contestant) Difference { return Paired(f.signed(a), f.signed(b)) }

// signed returns the objective's value of c by seed, with the sign that makes
// less better.
func (f *Facts) signed(c *Contestant) []float64 {
	values := c.Value.Values()
	for i := range values {
		values[i] *= f.Objective.sign()
	}
	return values
}

// level returns the number of fit strategies that equal the winner on every
// seed.
func (f *Facts) level() (n int) {
	if f.Winner == nil {
		return 0
	}
	for _, c := range f.Fit() {
		if c.finite() && f.difference(f.Winner, c).Pairs == 0 {
			n++
		}
	}
	return n
}

// leastBad returns the strategy that comes closest to being fit. The objective
// alone would choose those that fail fastest. A silent loss is worse than a
// failure that the caller sees, and a lost call worse than a peak.
func (f *Facts) leastBad() *Contestant {
	var able []*Contestant
	for _, c := range f.Ranking { // equals keep the order of the objective
		if c.Fitness.Fit() {
			return nil
		}
		if meanOf(c.Result, metrics.SuccessRate) > 0 {
			able = append(able, c)
		}
	}
	if len(able) == 0 {
		return nil
	}
	return slices.MinFunc(able, func(a, b *Contestant) int {
		return cmp.Or(
			cmp.Compare(a.silent(), b.silent()),
			-cmp.Compare(meanOf(a.Result, metrics.SuccessRate), meanOf(b.Result, metrics.SuccessRate)),
			cmp.Compare(f.excess(a), f.excess(b)),
		)
	})
}

// silent returns 1 if c has silent losses, and else 0.
func (c *Contestant) silent() int {
	if c.Fitness.SilentLosses {
		return 1
	}
	return 0
}

// excess returns the part of the peak, × capacity, that is over the bound.
func (f *Facts) excess(c *Contestant) float64 {
	if !c.Fitness.OverPeak {
		return 0
	}
	return c.PeakMultiple - f.MaxPeak
}

func (f *Facts) outcome() metrics.Outcome {
	fit := f.Fit()
	switch {
	case len(f.Results) == 0:
		return metrics.Nothing
	case f.Winner != nil:
		return metrics.Won
	case len(fit) == 0:
		return metrics.NoneFit
	case fit[0].Value.Undefined == 1: // the best of them
		return metrics.NoMeaning
	}
	return metrics.Unreached
}
