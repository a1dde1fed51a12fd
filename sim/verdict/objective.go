package verdict

import (
	"fmt"
	"strings"

	"herdlab/sim/metrics"
)

// Objective is what decides between the strategies that are fit to win. The
// zero value is ByDrain.
type Objective uint8

// The objectives.
const (
	ByDrain      Objective = iota // the least drain_time; recovery_time where fleets are not one-shot
	ByPeak                        // the least herd_peak; peak_after, or peak without a fault, where the capacity has no bound
	ByAttempts                    // the fewest attempts
	ByLatency                     // the least latency_p99
	BySuccess                     // the highest success_lower
	ByCompletion                  // the least completion_time
	ByCost                        // the least cost_per_answer
	numObjectives

	// ByDefault is used if no objective is chosen: ByDrain, or ByLatency without
	// a fault to drain or recover from. ParseObjective has no name for it.
	ByDefault
)

var objectiveNames = [numObjectives]string{"drain", "peak", "attempts", "latency", "success", "completion", "cost"}

// String returns the objective's name in options and result files.
func (o Objective) String() string {
	switch {
	case o < numObjectives:
		return objectiveNames[o]
	case o == ByDefault:
		return "default"
	}
	return fmt.Sprintf("objective(%d)", uint8(o))
}

// ObjectiveNames returns the names that ParseObjective accepts.
func ObjectiveNames() []string { return objectiveNames[:] }

// ParseObjectives returns the objectives whose names a list separates by commas.
func ParseObjectives(list string) (all []Objective, err error) {
	for name := range strings.SplitSeq(list, ",") {
		o, err := ParseObjective(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// ParseObjective returns the objective with the given name. The error lists the
// names that exist.
func ParseObjective(name string) (Objective, error) {
	for i, n := range objectiveNames {
		if n == name {
			return Objective(i), nil
		}
	}
	return 0, fmt.Errorf("there is no objective %q; choose one of %s", name, strings.Join(objectiveNames[:], ", "))
}

// In returns the objective that o stands for in a scenario: o itself unless it
// is ByDefault.
func (o Objective) In(s *metrics.Scenario) Objective {
	switch {
	case o != ByDefault:
		return o
	case len(s.Faults) == 0 && !s.OneShot:
		return ByLatency
	}
	return ByDrain
}

// Metric returns the metric that the objective compares in a scenario: for
// drain, drain_time if fleets are one-shot, and else recovery_time; for the peak,
// herd_peak, or where the capacity has no bound peak_after if there is a fault and
// else the peak of the whole run.
func (o Objective) Metric(s *metrics.Scenario) metrics.Metric {
	switch o.In(s) {
	case ByPeak:
		switch {
		case s.Capacity > 0:
			return metrics.HerdPeak
		case len(s.Faults) == 0:
			return metrics.Peak
		}
		return metrics.PeakAfter
	case ByAttempts:
		return metrics.Attempts
	case ByLatency:
		return metrics.LatencyP99
	case BySuccess:
		return metrics.SuccessLower
	case ByCompletion:
		return metrics.CompletionTime
	case ByCost:
		return metrics.CostPerAnswer
	}
	if s.OneShot {
		return metrics.DrainTime
	}
	return metrics.RecoveryTime
}

// sign returns 1 if less is better and −1 if more is.
func (o Objective) sign() float64 {
	if o == BySuccess {
		return -1
	}
	return 1
}
