package verdict

import (
	"cmp"
	"math"
	"slices"

	"herdlab/sim/metrics"
)

// Judge returns the conclusions from r by the rules. more are runs with further
// seeds for the leaders, fresh are runs with seeds that took no part in the choice;
// both may be nil.
//
// Strategies are ranked by the mean of the objective. Those whose value is never on
// some seed come behind all others, ordered by the median and then by the share of
// never; equals are ordered by name. Leaders are the best fit strategy and those fit
// ones that cannot be told from it: whose value is not worse by MinDifference, or
// not significantly in the paired test. A single leader is the winner if there are
// at least MinSeeds seeds. No correction is made for the number of strategies,
// because the winner must pass the test against every one of them.
func Judge(r *metrics.Result, rules Rules, more, fresh *metrics.Extra) *Facts {
	f := &Facts{Result: r, Rules: rules.or()}
	f.Objective = f.Rules.Objectives[0].In(&r.Scenario)
	f.Metric = f.Objective.Metric(&r.Scenario)
	f.Fallback = f.Rules.Objectives[0] == ByDefault && f.Objective != ByDrain
	for i := range r.Results {
		f.Ranking = append(f.Ranking, f.contestant(&r.Results[i], more))
	}
	f.findFewer()
	slices.SortFunc(f.Ranking, f.compare)
	f.lead()
	for _, c := range f.With(Undecided) {
		if len(f.Leaders) > 0 && f.Better(c, f.best()) {
			f.Rivals = append(f.Rivals, c)
		}
	}
	byName(f.Rivals)
	f.LeastBad = f.leastBad()
	f.Outcome = f.outcome()
	f.confirm(fresh)
	return f
}

// Rejudge judges r by the rules, and with the further runs, of the verdict that r
// records.
func Rejudge(r *metrics.Result) (*Facts, error) {
	v := r.Verdict
	rules := Rules{MinSuccess: v.MinSuccess, MaxPeak: v.MaxPeak, MinDifference: v.MinDifference}
	for _, name := range v.Objectives {
		o := ByDefault
		if name != ByDefault.String() {
			var err error
			if o, err = ParseObjective(name); err != nil {
				return nil, err
			}
		}
		rules.Objectives = append(rules.Objectives, o)
	}
	return Judge(r, rules, v.More, v.Fresh), nil
}

func (f *Facts) contestant(s *metrics.StrategyResult, more *metrics.Extra) *Contestant {
	c := &Contestant{
		Name: s.Strategy, Result: s, Fitness: fitness(s, &f.Rules),
		Value: s.Estimate(f.Metric), PeakMultiple: meanOf(s, metrics.HerdPeakOfCapacity),
	}
	if extra, ok := more.Estimate(c.Name); ok {
		c.Value = summarise(f.Metric, append(c.Value.Values(), extra.Values()...))
	}
	if c.Value.Mean == nil && c.Value.Never == 0 {
		c.Value.Undefined = 1 // also if the result lacks it
	}
	return c
}

// findFewer marks the strategies that answer significantly fewer calls than another
// fit one. It applies to closed fleets that never stop calling: there a strategy
// lowers its own load by letting its clients wait.
func (f *Facts) findFewer() {
	if !f.Scenario.Endless {
		return
	}
	var most *Contestant
	for _, c := range f.Ranking {
		if c.Fitness.Answer() == Fit && (most == nil || meanOf(c.Result, metrics.Goodput) > meanOf(most.Result, metrics.Goodput)) {
			most = c
		}
	}
	for _, c := range f.Ranking {
		if c.Fitness.Answer() != Fit || c == most {
			continue
		}
		a, b := valuesOf(most.Result, metrics.Goodput), valuesOf(c.Result, metrics.Goodput)
		far := meanOf(c.Result, metrics.Goodput) < float64(fewerShare*meanOf(most.Result, metrics.Goodput))
		c.Fitness.Fewer = far && Paired(b, a).Standing == Better // less, which Paired takes for better
	}
}

// fewerShare is the share of the most answers below which a strategy answers fewer
// calls.
const fewerShare = 0.95

// lead finds the leaders, the winner and the runner-up.
func (f *Facts) lead() {
	var able []*Contestant // fit, with a finite value on most seeds
	for _, c := range f.Fit() {
		if c.finite() {
			able = append(able, c)
		}
	}
	if len(able) == 0 {
		return
	}
	leaders := f.level(able)
	for _, next := range f.Rules.Objectives[1:] {
		if len(leaders) == 1 {
			break
		}
		leaders = f.narrow(leaders, next)
	}
	if len(leaders) == 1 {
		f.RunnerUp = nil
		for _, c := range able {
			if c != leaders[0] {
				f.RunnerUp = c
				break
			}
		}
		if f.RunnerUp != nil {
			f.Lead = f.difference(leaders[0], f.RunnerUp)
		}
		f.Winner = leaders[0]
	}
	f.Leaders = byName(slices.Clone(leaders))
}

// level returns the first of the strategies, which are ranked, and those that
// cannot be told from it.
func (f *Facts) level(able []*Contestant) []*Contestant {
	leaders := able[:1:1]
	for _, c := range able[1:] {
		if !f.ahead(able[0], c) {
			leaders = append(leaders, c)
		}
	}
	return leaders
}

// narrow returns the leaders by another objective among those of the one before.
func (f *Facts) narrow(leaders []*Contestant, o Objective) []*Contestant {
	g := &Facts{Result: f.Result, Rules: f.Rules, Objective: o.In(&f.Scenario), Metric: o.Metric(&f.Scenario)}
	var able []*Contestant
	for _, c := range leaders {
		if d := g.contestant(c.Result, nil); d.finite() {
			able = append(able, d)
		}
	}
	if len(able) == 0 {
		return leaders
	}
	slices.SortFunc(able, g.compare)
	able = g.level(able)
	var names []*Contestant
	for _, c := range leaders {
		if slices.ContainsFunc(able, func(d *Contestant) bool { return d.Name == c.Name }) {
			names = append(names, c)
		}
	}
	return names
}

// ahead reports whether a is better than b by more than the least difference,
// significantly, and on enough seeds.
func (f *Facts) ahead(a, b *Contestant) bool {
	if len(a.Value.PerSeed) < MinSeeds {
		return false
	}
	return f.material(a, b) && f.difference(a, b).Standing == Better
}

// material reports whether the values differ by more than the least difference.
func (f *Facts) material(a, b *Contestant) bool {
	x, y := f.score(a), f.score(b)
	if b.rank() > a.rank() || math.IsInf(y, 0) {
		return true // never on some seeds
	}
	return y-x > float64(f.Rules.MinDifference*math.Abs(x))
}

// best returns the leader that is ranked first.
func (f *Facts) best() *Contestant {
	for _, c := range f.Ranking {
		if slices.Contains(f.Leaders, c) {
			return c
		}
	}
	return nil
}

// confirm compares winner and runner-up on fresh seeds. If these reverse the order,
// there is no winner.
func (f *Facts) confirm(fresh *metrics.Extra) {
	if fresh == nil || f.Winner == nil {
		return
	}
	f.Fresh = fresh
	w, ok := fresh.Estimate(f.Winner.Name)
	if !ok || f.RunnerUp == nil {
		return
	}
	r, ok := fresh.Estimate(f.RunnerUp.Name)
	if !ok {
		return
	}
	a, b := &Contestant{Value: w}, &Contestant{Value: r}
	f.FreshLead = f.difference(a, b)
	if a.rank() > b.rank() || a.rank() == b.rank() && f.score(a) > f.score(b) {
		f.Leaders = byName([]*Contestant{f.Winner, f.RunnerUp})
		f.Winner, f.Outcome = nil, metrics.NotConfirmed
	}
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
		cmp.Compare(a.Name, b.Name),
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

// leastBad returns the strategy that comes closest to being fit. The objective
// alone would choose those that fail fastest. A silent loss is worse than a
// failure that the caller sees, and a lost call worse than a peak.
func (f *Facts) leastBad() *Contestant {
	var able []*Contestant
	for _, c := range f.Ranking { // equals keep the order of the objective
		if c.Fitness.Answer() != Unfit {
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
			-cmp.Compare(a.Fitness.Lower.Estimate, b.Fitness.Lower.Estimate),
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
	if !c.Fitness.OverPeak() {
		return 0
	}
	return c.PeakMultiple - f.Rules.MaxPeak
}

func (f *Facts) outcome() metrics.Outcome {
	fit := f.Fit()
	switch {
	case len(f.Results) == 0:
		return metrics.Nothing
	case f.Winner != nil && f.RunnerUp == nil && len(fit) == 1:
		return metrics.OnlyFit
	case f.Winner != nil:
		return metrics.Won
	case len(f.Leaders) > 1:
		return metrics.Level
	case len(fit) == 0 && len(f.With(Undecided)) > 0:
		return metrics.NotDecided
	case len(fit) == 0:
		return metrics.NoneFit
	case fit[0].Value.Undefined == 1: // the best of them
		return metrics.NoMeaning
	}
	return metrics.Unreached
}
