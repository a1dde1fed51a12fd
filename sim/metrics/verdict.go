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
	// MaxPeak is the bound on the peak after the last fault, × capacity.
	MaxPeak float64 `json:"max_peak_of_capacity"`
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
	// LeastBad is the name of the strategy that comes closest to being fit if
	// none is; empty if none answers any call.
	LeastBad string `json:"least_bad,omitempty"`
	// Disqualified are the strategies that may not win, and why.
	Disqualified []Disqualification `json:"disqualified"`
	// Sentence is the verdict as text.
	Sentence string `json:"sentence"`
}

// Outcome is how a comparison ends.
type Outcome string

// The outcomes.
const (
	Won       Outcome = "winner"
	NoneFit   Outcome = "none_fit"  // every strategy is disqualified
	NoMeaning Outcome = "undefined" // the objective is undefined for every strategy that is fit
	Unreached Outcome = "unreached" // the objective's time is infinite on most seeds for every strategy that is fit
	Nothing   Outcome = "nothing"   // there is no strategy
)

// Disqualification is why a strategy may not win.
type Disqualification struct {
	Strategy string `json:"strategy"`
	Reason   string `json:"reason"`
}
