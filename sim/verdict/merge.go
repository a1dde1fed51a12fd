package verdict

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"herdlab/sim/metrics"
)

// Merge returns the result of all seeds of a and b, which must come from the
// same scenario and the same version of the program and share no seed. It equals
// the result of one comparison with all the seeds, in any order of merging. The
// result is judged again if a and b are, and its verdict has no text. If a or b
// is not complete, the result has the strategies that both have and is not
// complete either.
func Merge(a, b *metrics.Result) (*metrics.Result, error) {
	if err := mergeable(a, b); err != nil {
		return nil, fmt.Errorf("verdict: these results do not merge: %w", err)
	}
	seeds, fromB, err := interleave(a.Seeds, b.Seeds)
	if err != nil {
		return nil, fmt.Errorf("verdict: these results do not merge: %w", err)
	}
	r := &metrics.Result{
		SchemaVersion: a.SchemaVersion, Tool: a.Tool, Scenario: a.Scenario,
		Seeds: seeds, Complete: a.Complete && b.Complete,
		Results: make([]metrics.StrategyResult, 0, len(a.Results)),
	}
	last := -1
	for i := range a.Results {
		s := &a.Results[i]
		k := slices.IndexFunc(b.Results, func(t metrics.StrategyResult) bool { return t.Strategy == s.Strategy })
		switch {
		case k < 0 && r.Complete:
			return nil, fmt.Errorf("verdict: these results do not merge: strategy %q is only in one of them", s.Strategy)
		case k < 0:
			continue
		case k < last:
			return nil, errors.New("verdict: these results do not merge: their strategies are in different orders")
		case s.Summary != b.Results[k].Summary:
			return nil, fmt.Errorf("verdict: these results do not merge: strategy %q is not the same in both", s.Strategy)
		}
		last = k
		r.Results = append(r.Results, mergeStrategy(s, &b.Results[k], fromB))
	}
	if r.Complete && len(r.Results) != len(b.Results) {
		return nil, errors.New("verdict: these results do not merge: one of them has more strategies")
	}
	if a.Verdict != nil {
		rules := *a.Verdict // runs with further seeds are of one comparison only
		rules.More, rules.Fresh = nil, nil
		r.Verdict = &rules
		facts, err := Rejudge(r)
		if err != nil {
			return nil, fmt.Errorf("verdict: these results do not merge: %w", err)
		}
		r.Verdict = facts.Record()
	}
	return r, nil
}

// mergeable returns an error if a and b cannot be merged, whatever their seeds
// and strategies.
func mergeable(a, b *metrics.Result) error {
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
	case a.Verdict != nil && !sameRules(a.Verdict, b.Verdict):
		return fmt.Errorf("they were judged by different rules: %s and %s", rulesOf(a.Verdict), rulesOf(b.Verdict))
	}
	return errors.Join(a.Validate(), b.Validate())
}

// sameRules reports whether two verdicts were reached by the same rules.
func sameRules(a, b *metrics.Verdict) bool {
	return slices.Equal(a.Objectives, b.Objectives) &&
		a.MinSuccess == b.MinSuccess && a.MaxPeak == b.MaxPeak && a.MinDifference == b.MinDifference
}

// rulesOf returns the rules of a verdict as text.
func rulesOf(v *metrics.Verdict) string {
	return fmt.Sprintf("%s with at least %v success, at most %v × capacity and a difference of %v",
		strings.Join(v.Objectives, ","), v.MinSuccess, v.MaxPeak, v.MinDifference)
}

// sameScenario reports whether two scenarios are equal; a nil list of faults
// equals an empty one.
func sameScenario(a, b metrics.Scenario) bool {
	if len(a.Faults)+len(b.Faults) == 0 {
		a.Faults, b.Faults = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// interleave merges two ascending lists of seeds. fromB tells of each seed
// whether it is one of b.
func interleave(a, b []uint64) (seeds []uint64, fromB []bool, err error) {
	for len(a)+len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			seeds, fromB, a = append(seeds, a[0]), append(fromB, false), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			seeds, fromB, b = append(seeds, b[0]), append(fromB, true), b[1:]
		default:
			return nil, nil, fmt.Errorf("both have seed %d", a[0])
		}
	}
	return seeds, fromB, nil
}

// mergeStrategy merges the results of one strategy; fromB is that of interleave.
func mergeStrategy(a, b *metrics.StrategyResult, fromB []bool) metrics.StrategyResult {
	s := metrics.StrategyResult{
		Strategy: a.Strategy, Summary: a.Summary,
		Metrics: make(metrics.Estimates, metrics.NumMetrics), Timeline: a.Timeline,
		Signals: metrics.MergeSignals(a.Signals, b.Signals, fromB),
	}
	if b.Timeline.Seed < a.Timeline.Seed {
		s.Timeline = b.Timeline
	}
	values := make([]float64, len(fromB))
	for m := range metrics.Metric(metrics.NumMetrics) {
		fa, fb := a.Estimate(m), b.Estimate(m)
		va, vb := fa.Values(), fb.Values()
		for i, isB := range fromB {
			if isB {
				values[i], vb = vb[0], vb[1:]
			} else {
				values[i], va = va[0], va[1:]
			}
		}
		add(s.Metrics, m, values)
	}
	return s
}
