package metrics

import (
	"fmt"
	"strings"
)

// lossOf says which calls a strategy loses, in plain words; empty if none.
func (j *judging) lossOf(s *StrategyResult) string {
	calls, failed := s.Figure(Calls), s.Figure(FailedCalls)
	if every(calls, failed) && j.portion(failed, calls) != j.only() {
		return fmt.Sprintf("all %s%s fail", j.exactly(calls), j.jobs())
	}
	var reasons []string
	if f := s.Figure(SilentLosses); lost(f) {
		reasons = append(reasons, fmt.Sprintf("it takes%s %s %s: silent losses", j.onAverage(f), average(f),
			verb(f, "refusal for an answer", "refusals for answers")))
	}
	if lost(failed) {
		reasons = append(reasons, fmt.Sprintf("%s %s%s", j.portion(failed, calls), verb(failed, "fails", "fail"), j.onAverage(failed)))
	}
	switch f := s.Figure(OverdueCalls); {
	case !lost(f):
	case every(f, s.Figure(HungCalls)):
		reasons = append(reasons, fmt.Sprintf("%s %s%s: nothing is left to happen that would settle %s",
			j.portion(f, calls), verb(f, "hangs", "hang"), j.onAverage(f), verb(f, "it", "them")))
	default:
		what := "still pending"
		if !j.Scenario.OneShot {
			what = "overdue" // others may be pending and well
		}
		reasons = append(reasons, fmt.Sprintf("%s %s %s%s when the run ends", j.portion(f, calls), verb(f, "is", "are"), what, j.onAverage(f)))
	}
	return strings.Join(reasons, "; ")
}

// overOf says by how much the peak exceeds the bound.
func (j *judging) overOf(s *StrategyResult) string {
	return fmt.Sprintf("its peak of %s %s%s is %s × capacity, over the bound of %s ×",
		average(s.Figure(PeakAfter)), j.perBin(), j.afterFault(), average(s.Figure(PeakAfterOfCapacity)), FormatSet(j.maxPeak))
}

// every reports whether part is the whole on each seed, and there is one.
func every(whole, part Figure) bool {
	for i, w := range whole.PerSeed {
		if i >= len(part.PerSeed) || w == nil || part.PerSeed[i] == nil || *w != *part.PerSeed[i] || *w == 0 {
			return false
		}
	}
	return len(whole.PerSeed) > 0
}

func lost(f Figure) bool { return f.Mean != nil && *f.Mean > 0 }

// average writes the mean of f, a dash if there is none.
func average(f Figure) string {
	if f.Mean == nil {
		return none
	}
	return FormatMean(*f.Mean, f.Vary())
}

// constant reports whether the figure is the same on every seed.
func constant(f Figure) bool {
	for _, x := range f.PerSeed {
		if x == nil || *x != *f.PerSeed[0] {
			return false
		}
	}
	return len(f.PerSeed) > 0
}

func (j *judging) onAverage(f Figure) string {
	if constant(f) {
		return ""
	}
	return " on average"
}

// exactly is the number of calls before their name, if it is the same on every
// seed.
func (j *judging) exactly(calls Figure) string {
	if constant(calls) {
		return FormatNumber(*calls.PerSeed[0]) + " "
	}
	return "the "
}

// portion is how many of the calls f counts, in the mean.
func (j *judging) portion(f, calls Figure) string {
	if j.exactly(calls) == "1 " && verb(f, "one", "many") == "one" {
		return j.only()
	}
	return fmt.Sprintf("%s of %s%s", average(f), j.exactly(calls), j.jobs())
}

// only is the portion that is one call of one.
func (j *judging) only() string { return "its only " + strings.TrimSuffix(j.jobs(), "s") }

// verb is the one form of a word if f counts one on every seed, else the other.
func verb(f Figure, one, many string) string {
	if constant(f) && *f.PerSeed[0] == 1 {
		return one
	}
	return many
}

// jobs is what calls are called: workers with one job each are one-shot.
func (j *judging) jobs() string {
	if j.Scenario.OneShot {
		return "jobs"
	}
	return "calls"
}
