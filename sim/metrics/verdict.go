package metrics

// Verdict is the conclusion from a result, as a result file records it. Package
// verdict reaches it; Sentence and the reasons are text, written by the program
// that prints them.
type Verdict struct {
	// Objective is what is minimised or maximised among the strategies that are
	// fit to win.
	Objective string `json:"objective"`
	// Fallback reports that no objective was chosen and that it is not drain,
	// since there is no fault to recover from.
	Fallback bool `json:"fallback,omitempty"`
	// Metric is the name of the metric that the objective compares in this
	// scenario.
	Metric string `json:"metric"`
	// Objectives are those that were chosen, in their order; "default" if none was.
	Objectives []string `json:"objectives"`
	// MinSuccess is the bound on the share of calls that are answered usefully,
	// MaxPeak that on the herd peak, × capacity, and MinDifference the share of the
	// winner's value by which the others must be worse.
	MinSuccess    float64 `json:"min_success"`
	MaxPeak       float64 `json:"max_peak_of_capacity"`
	MinDifference float64 `json:"min_difference"`
	// Outcome is whether there is a winner, and if not, why.
	Outcome Outcome `json:"outcome"`
	// Winner and RunnerUp are names of strategies, empty if there is none.
	Winner   string `json:"winner"`
	RunnerUp string `json:"runner_up"`
	// Significant reports whether the winner's lead over the runner-up is
	// significant at 95 % when compared seed by seed; PValue is that of this
	// comparison, nil (null in JSON) if there is no runner-up.
	Significant bool     `json:"significant"`
	PValue      *float64 `json:"p_value"`
	// Leaders are the fit strategies that cannot be told apart, by name: one if there
	// is a winner.
	Leaders []string `json:"leaders"`
	// LeastBad is the name of the strategy that comes closest to being fit if
	// none is; empty if none answers any call.
	LeastBad string `json:"least_bad,omitempty"`
	// Disqualified are the strategies that may not win, and why.
	Disqualified []Disqualification `json:"disqualified"`
	// Undecided are the strategies of which these runs do not tell whether they are
	// fit.
	Undecided []Undecided `json:"undecided,omitempty"`
	// More are runs with further seeds for the strategies that the seeds of the
	// result did not tell apart, Fresh are runs of winner and runner-up with seeds
	// that took no part in the choice.
	More  *Extra `json:"more,omitempty"`
	Fresh *Extra `json:"fresh,omitempty"`
	// Sentence is the verdict as text.
	Sentence string `json:"sentence"`
}

// Outcome is how a comparison ends.
type Outcome string

// The outcomes.
const (
	Won          Outcome = "winner"
	OnlyFit      Outcome = "only_fit"      // one strategy is fit; it is the winner, though it has beaten none
	Level        Outcome = "level"         // several strategies lead and cannot be told apart
	NotConfirmed Outcome = "not_confirmed" // fresh seeds have reversed the order of winner and runner-up
	NoneFit      Outcome = "none_fit"      // every strategy is disqualified
	NotDecided   Outcome = "not_decided"   // no strategy is fit, and of some these runs do not tell
	NoMeaning    Outcome = "undefined"     // the objective is undefined for every strategy that is fit
	Unreached    Outcome = "unreached"     // the objective's time is infinite on most seeds for every strategy that is fit
	Nothing      Outcome = "nothing"       // there is no strategy
)

// Disqualification is why a strategy may not win.
type Disqualification struct {
	Strategy string `json:"strategy"`
	Reason   string `json:"reason"`
}

// Undecided is a strategy of which a comparison does not tell whether it is fit.
type Undecided struct {
	Strategy string `json:"strategy"`
	// Seeds is about the number of seeds that it takes to tell; 0 if more seeds do
	// not help.
	Seeds int `json:"seeds_needed,omitempty"`
	// Horizon is about how long the run would have to be, in seconds, for the calls
	// that still waited at its end to be settled; 0 if they do not matter.
	Horizon float64 `json:"horizon_needed,omitempty"`
	Reason  string  `json:"reason,omitempty"`
}

// Extra are runs of some strategies of a comparison with further seeds.
type Extra struct {
	Seeds []uint64 `json:"seeds"`
	// Values are those of the verdict's metric, by strategy.
	Values map[string]Estimate `json:"values"`
}

// Estimate returns the values of a strategy, if there are any.
func (e *Extra) Estimate(strategy string) (f Estimate, ok bool) {
	if e == nil {
		return f, false
	}
	f, ok = e.Values[strategy]
	return f, ok
}
