package metrics

import (
	"errors"
	"fmt"
	"reflect"
)

// Merge returns the result of all seeds of a and b, which must come from the
// same scenario and the same version of the program and share no seed. It is
// the result that running all the seeds at once gives, in whichever order
// results are merged; the verdict is reached anew. If a or b is not complete,
// neither is the result, which has the strategies that both have.
func Merge(a, b *Result) (*Result, error) {
	if err := mergeable(a, b); err != nil {
		return nil, fmt.Errorf("metrics: these results do not merge: %w", err)
	}
	seeds, from, err := interleave(a.Seeds, b.Seeds)
	if err != nil {
		return nil, fmt.Errorf("metrics: these results do not merge: %w", err)
	}
	r := &Result{
		SchemaVersion: a.SchemaVersion, Tool: a.Tool, Scenario: a.Scenario,
		Seeds: seeds, Complete: a.Complete && b.Complete,
		Results: make([]StrategyResult, 0, len(a.Results)),
	}
	last := -1
	for i := range a.Results {
		s := &a.Results[i]
		k := b.index(s.Strategy)
		switch {
		case k < 0 && r.Complete:
			return nil, fmt.Errorf("metrics: these results do not merge: strategy %q is only in one of them", s.Strategy)
		case k < 0:
			continue
		case k < last:
			return nil, errors.New("metrics: these results do not merge: their strategies are in different orders")
		case s.Summary != b.Results[k].Summary:
			return nil, fmt.Errorf("metrics: these results do not merge: strategy %q is not the same in both", s.Strategy)
		}
		last = k
		r.Results = append(r.Results, mergeStrategy(s, &b.Results[k], from))
	}
	if r.Complete && len(r.Results) != len(b.Results) {
		return nil, errors.New("metrics: these results do not merge: one of them has more strategies")
	}
	if a.Verdict != nil {
		o, err := ParseObjective(a.Verdict.Objective)
		if err != nil {
			return nil, fmt.Errorf("metrics: these results do not merge: %w", err)
		}
		if a.Verdict.Fallback {
			o = ByDefault
		}
		r.Verdict = Judge(r, o, a.Verdict.MaxPeak)
	}
	return r, nil
}

// mergeable says what keeps a and b from being merged, seeds and strategies
// aside.
func mergeable(a, b *Result) error {
	switch {
	case a.SchemaVersion != b.SchemaVersion:
		return fmt.Errorf("they have schema_version %d and %d", a.SchemaVersion, b.SchemaVersion)
	case a.Scenario.SHA256 != b.Scenario.SHA256:
		return fmt.Errorf("they are of different scenarios, %q (SHA-256 %.12s…) and %q (SHA-256 %.12s…)",
			a.Scenario.Name, a.Scenario.SHA256, b.Scenario.Name, b.Scenario.SHA256)
	case !sameScenario(a.Scenario, b.Scenario):
		return fmt.Errorf("scenario %q was run with different input or options", a.Scenario.Name)
	case a.Tool != b.Tool:
		return fmt.Errorf("they were made by %s %s and by %s %s", a.Tool.Name, a.Tool.Version, b.Tool.Name, b.Tool.Version)
	case (a.Verdict == nil) != (b.Verdict == nil):
		return errors.New("only one of them has a verdict")
	case a.Verdict != nil && (a.Verdict.Objective != b.Verdict.Objective || a.Verdict.Fallback != b.Verdict.Fallback || a.Verdict.MaxPeak != b.Verdict.MaxPeak):
		return fmt.Errorf("they were judged by different objectives, %s under %v × capacity and %s under %v ×",
			a.Verdict.Objective, a.Verdict.MaxPeak, b.Verdict.Objective, b.Verdict.MaxPeak)
	}
	return errors.Join(a.validate(), b.validate())
}

// sameScenario compares two scenarios; no faults are no faults, however they are
// listed.
func sameScenario(a, b Scenario) bool {
	if len(a.Faults)+len(b.Faults) == 0 {
		a.Faults, b.Faults = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// interleave merges two ascending lists of seeds. from says of each seed
// whether it is b's.
func interleave(a, b []uint64) (seeds []uint64, from []bool, err error) {
	for len(a)+len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			seeds, from, a = append(seeds, a[0]), append(from, false), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			seeds, from, b = append(seeds, b[0]), append(from, true), b[1:]
		default:
			return nil, nil, fmt.Errorf("both have seed %d", a[0])
		}
	}
	return seeds, from, nil
}

// index returns where a strategy is, −1 if it is not.
func (r *Result) index(strategy string) int {
	for i := range r.Results {
		if r.Results[i].Strategy == strategy {
			return i
		}
	}
	return -1
}

// mergeStrategy merges what one strategy did; from is of interleave.
func mergeStrategy(a, b *StrategyResult, from []bool) StrategyResult {
	s := StrategyResult{
		Strategy: a.Strategy, Summary: a.Summary,
		Metrics: make(Figures, NumMetrics), Timeline: a.Timeline,
		Signals: mergeSignals(a.Signals, b.Signals, from),
	}
	if b.Timeline.Seed < a.Timeline.Seed {
		s.Timeline = b.Timeline
	}
	values := make([]float64, len(from))
	for m := range Metric(NumMetrics) {
		fa, fb := a.Figure(m), b.Figure(m)
		va, vb := fa.values(), fb.values()
		for i, isB := range from {
			if isB {
				values[i], vb = vb[0], vb[1:]
			} else {
				values[i], va = va[0], va[1:]
			}
		}
		s.Metrics.add(m, values)
	}
	return s
}
