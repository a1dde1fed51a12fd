package metrics

import (
	"fmt"
	"strings"
)

// Objective is what decides between the strategies that are fit to win. The
// zero value is ByDrain.
type Objective uint8

// The objectives.
const (
	ByDrain    Objective = iota // the least drain_time; recovery_time where fleets are not one-shot
	ByPeak                      // the least peak_after; peak where there is no fault
	ByAttempts                  // the fewest attempts
	ByLatency                   // the least latency_p99
	BySuccess                   // the highest success_rate
	numObjectives

	// ByDefault is for who did not choose: ByDrain, or ByLatency where no fault
	// is there to drain or recover from. It has no name to ask for it by.
	ByDefault
)

var objectiveNames = [numObjectives]string{"drain", "peak", "attempts", "latency", "success"}

// String returns the objective's name as options and result files spell it.
func (o Objective) String() string {
	switch {
	case o < numObjectives:
		return objectiveNames[o]
	case o == ByDefault:
		return "default"
	}
	return fmt.Sprintf("objective(%d)", uint8(o))
}

// ObjectiveNames returns the names that ParseObjective knows.
func ObjectiveNames() []string { return objectiveNames[:] }

// ParseObjective returns the objective of that name. The error lists those
// that exist.
func ParseObjective(name string) (Objective, error) {
	for i, n := range objectiveNames {
		if n == name {
			return Objective(i), nil
		}
	}
	return 0, fmt.Errorf("there is no objective %q; choose one of %s", name, strings.Join(objectiveNames[:], ", "))
}

// In returns the objective that o means in a scenario: itself, unless it is
// ByDefault.
func (o Objective) In(s *Scenario) Objective {
	switch {
	case o != ByDefault:
		return o
	case len(s.Faults) == 0 && !s.OneShot:
		return ByLatency
	}
	return ByDrain
}

// Metric returns the metric that the objective compares in a scenario. Drain is
// judged by drain_time where all calls come at the beginning, and by
// recovery_time where they keep coming; the peak by that after the last fault,
// and by that of the whole run where there is none.
func (o Objective) Metric(s *Scenario) Metric {
	switch o.In(s) {
	case ByPeak:
		if len(s.Faults) == 0 {
			return Peak
		}
		return PeakAfter
	case ByAttempts:
		return Attempts
	case ByLatency:
		return LatencyP99
	case BySuccess:
		return SuccessRate
	}
	if s.OneShot {
		return DrainTime
	}
	return RecoveryTime
}

// sign is 1 if less is better and −1 if more is.
func (o Objective) sign() float64 {
	if o == BySuccess {
		return -1
	}
	return 1
}
