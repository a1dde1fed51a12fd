package metrics

import (
	"cmp"
	"math"
	"slices"
)

// Verdict says who wins.
type Verdict struct {
	// Objective is what was minimised or maximised among the eligible.
	Objective string `json:"objective"`
	// Fallback says that nobody chose the objective and that it is not drain,
	// since there is no fault to recover from.
	Fallback bool `json:"fallback,omitempty"`
	// Metric is what the objective compares in this scenario, by its name.
	Metric string `json:"metric"`
	// MaxPeak is the bound on the peak after the last fault, × capacity.
	MaxPeak float64 `json:"max_peak_of_capacity"`
	// Outcome says whether there is a winner, and if not, why.
	Outcome Outcome `json:"outcome"`
	// Winner and RunnerUp are strategies, empty if there is none.
	Winner   string `json:"winner"`
	RunnerUp string `json:"runner_up"`
	// Significant says whether the winner's lead over the runner-up holds at
	// 95 % when compared seed by seed; PValue is of that comparison, nil
	// (null in JSON) if there is no runner-up.
	Significant bool     `json:"significant"`
	PValue      *float64 `json:"p_value"`
	// LeastBad is named if nobody is eligible: of the strategies without silent
	// losses, if there are any, the one that answers most calls; of those that
	// answer as many, one that keeps the bound on the peak, or else exceeds it
	// least. Empty if none answers any.
	LeastBad string `json:"least_bad,omitempty"`
	// Disqualified are the strategies that may not win, and why.
	Disqualified []Disqualification `json:"disqualified"`
	// Sentence says all that to a person.
	Sentence string `json:"sentence"`
}

// Outcome is how a comparison ends.
type Outcome string

// The outcomes.
const (
	Won       Outcome = "winner"
	NoneFit   Outcome = "none_fit"  // every strategy is disqualified
	NoMeaning Outcome = "undefined" // the objective has no meaning for any strategy that is fit
	Unreached Outcome = "unreached" // none that is fit gets there on most seeds
	Nothing   Outcome = "nothing"   // there is no strategy
)

// Disqualification is why a strategy may not win.
type Disqualification struct {
	Strategy string `json:"strategy"`
	Reason   string `json:"reason"`
}

// DefaultMaxPeak is the bound on the peak after the last fault, × capacity,
// unless asked otherwise.
const DefaultMaxPeak = 5.0

// Judge says who wins r by the objective o.
//
// Eligible is a strategy that loses no call, on any seed, and
// whose peak after the last fault, in the mean over the seeds, is at most
// maxPeak × capacity. It is the mean and not the worst seed, because the worst
// of many seeds is worse than that of few: a verdict must not depend on how
// many were run. Without a capacity, or without a fault, the bound does not
// apply. Of the calls that are pending when a run is cut off the overdue count
// as lost.
//
// A strategy wins only if it gets there on more than half of the seeds, that
// is if the median of the objective's time is finite. Strategies are ranked by
// the mean, those for which the time never comes on some seed behind all
// others, by the median and then by how often. Those that are level are ranked
// by their attempts, since each of them costs somebody something. The winner
// is tested against the runner-up, seed by seed. Choosing the two by the same
// data does not make luck pass for merit: the best is further from each of the
// others than from the second (Gutmann and Maymin, "Is the selected population
// the best?", Annals of Statistics 15, 1987).
func Judge(r *Result, o Objective, maxPeak float64) *Verdict {
	v := &Verdict{
		Fallback: o == ByDefault && o.In(&r.Scenario) != ByDrain, MaxPeak: maxPeak,
		Disqualified: []Disqualification{},
	}
	o = o.In(&r.Scenario)
	j := &judging{Result: r, objective: o, metric: o.Metric(&r.Scenario), maxPeak: maxPeak, fallback: v.Fallback}
	v.Objective, v.Metric = o.String(), j.metric.Info().Name
	for i := range r.Results {
		c := j.examine(&r.Results[i])
		j.ranking = append(j.ranking, c)
		if !c.eligible() {
			v.Disqualified = append(v.Disqualified, Disqualification{c.name, c.reason()})
		}
	}
	slices.SortStableFunc(j.ranking, j.compare)
	for _, c := range j.ranking {
		switch {
		case !c.eligible() || !c.arrives():
		case j.winner == nil:
			j.winner, v.Winner = c, c.name
		case j.runnerUp == nil:
			j.runnerUp, v.RunnerUp = c, c.name
		}
	}
	if j.runnerUp != nil {
		j.lead = Paired(j.signed(j.winner), j.signed(j.runnerUp))
		v.PValue, v.Significant = &j.lead.P, j.lead.Standing == Better
	}
	if c := j.leastBad(); c != nil {
		v.LeastBad = c.name
	}
	v.Outcome = j.outcome()
	v.Sentence = j.sentence()
	return v
}

// judging is a Judge under way.
type judging struct {
	*Result
	objective        Objective
	metric           Metric
	maxPeak          float64
	fallback         bool          // the objective was not chosen and is not drain
	ranking          []*contestant // the best first, eligible or not
	winner, runnerUp *contestant   // nil if there is none
	lead             Comparison    // of the winner over the runner-up
}

// contestant is one strategy before the judge.
type contestant struct {
	name     string
	result   *StrategyResult
	figure   Figure  // of the objective's metric
	multiple float64 // mean peak after the last fault, × capacity; NaN if unbounded
	// Why it is disqualified: it loses calls, or exceeds the bound; empty if not.
	loss, over string
}

// arrives reports whether c has a figure, and a finite one on most seeds.
func (c *contestant) arrives() bool { return c.figure.Mean != nil || c.figure.Median != nil }

func (c *contestant) eligible() bool { return c.loss == "" && c.over == "" }

// reason is why c is disqualified, in full.
func (c *contestant) reason() string {
	if c.loss != "" && c.over != "" {
		return c.loss + "; " + c.over
	}
	return c.loss + c.over
}

// examine finds out all that the judge needs to know of a strategy.
func (j *judging) examine(s *StrategyResult) *contestant {
	c := &contestant{
		name: s.Strategy, result: s, figure: s.Figure(j.metric), multiple: s.mean(PeakAfterOfCapacity),
	}
	if c.figure.Mean == nil && c.figure.Never == 0 {
		c.figure.Undefined = 1 // also if the result lacks it
	}
	c.loss = j.lossOf(s)
	if c.multiple > j.maxPeak {
		c.over = j.overOf(s)
	}
	return c
}

// mean returns the mean of m, NaN if there is none.
func (s *StrategyResult) mean(m Metric) float64 {
	if f := s.Figure(m); f.Mean != nil {
		return *f.Mean
	}
	return math.NaN()
}

// signed returns the objective's figure of c by seed, made so that less is
// better.
func (j *judging) signed(c *contestant) []float64 {
	values := c.figure.values()
	for i := range values {
		values[i] *= j.objective.sign()
	}
	return values
}

// score is what c is ranked by among those of its rank: less is better.
func (j *judging) score(c *contestant) float64 {
	switch {
	case c.figure.Mean != nil:
		return *c.figure.Mean * j.objective.sign()
	case c.figure.Median != nil:
		return *c.figure.Median * j.objective.sign()
	}
	return math.Inf(1)
}

// rank is 0 for figures that exist on every seed, 1 for those that never come
// on some, 2 for those that are undefined.
func (c *contestant) rank() int {
	switch {
	case c.figure.Undefined == 1:
		return 2
	case c.figure.Never > 0:
		return 1
	}
	return 0
}

// compare orders contestants, the best first.
func (j *judging) compare(a, b *contestant) int {
	return cmp.Or(
		cmp.Compare(a.rank(), b.rank()),
		cmp.Compare(j.score(a), j.score(b)),
		cmp.Compare(a.figure.Never, b.figure.Never),
		cmp.Compare(a.result.mean(Attempts), b.result.mean(Attempts)),
	)
}

// leastBad returns who is named if nobody is eligible. The objective alone
// would name those that fail fastest. A refusal that is taken for an answer is
// worse than any failure that is seen, and a lost call worse than a peak.
func (j *judging) leastBad() *contestant {
	var able []*contestant
	for _, c := range j.ranking { // ties go to the better by the objective
		if c.eligible() {
			return nil
		}
		if c.result.mean(SuccessRate) > 0 {
			able = append(able, c)
		}
	}
	if len(able) == 0 {
		return nil
	}
	return slices.MinFunc(able, func(a, b *contestant) int {
		return cmp.Or(
			cmp.Compare(a.silent(), b.silent()),
			-cmp.Compare(a.result.mean(SuccessRate), b.result.mean(SuccessRate)),
			cmp.Compare(a.excess(j.maxPeak), b.excess(j.maxPeak)),
		)
	})
}

// silent is 1 if c takes refusals for answers.
func (c *contestant) silent() int {
	if lost(c.result.Figure(SilentLosses)) {
		return 1
	}
	return 0
}

// excess is the peak, × capacity, as far as it is over the bound.
func (c *contestant) excess(bound float64) float64 {
	if c.over == "" {
		return 0
	}
	return c.multiple - bound
}

// outcome says how the comparison ended.
func (j *judging) outcome() Outcome {
	names := j.eligible()
	switch {
	case len(j.Results) == 0:
		return Nothing
	case j.winner != nil:
		return Won
	case len(names) == 0:
		return NoneFit
	case j.contestant(names[0]).figure.Undefined == 1: // the best of them
		return NoMeaning
	}
	return Unreached
}
