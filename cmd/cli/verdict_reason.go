package cli

import (
	"fmt"
	"math"
	"strings"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
	"herdlab/sim/verdict"
)

// reason returns why c is disqualified, empty if it is fit.
func (w verdictText) reason(c *verdict.Contestant) string {
	var reasons []string
	if c.Fitness.LosesCalls() {
		reasons = append(reasons, w.losses(c))
	}
	if c.Fitness.OverPeak() {
		reasons = append(reasons, w.overPeak(c.Result))
	}
	if c.Fitness.Fewer {
		reasons = append(reasons, fmt.Sprintf("it answers fewer calls (%s per second) than another fit strategy: its clients wait instead of calling",
			meanText(c.Result.Estimate(metrics.Goodput))))
	}
	return strings.Join(reasons, "; ")
}

// losses returns which calls c loses.
func (w verdictText) losses(c *verdict.Contestant) string {
	s, fitness := c.Result, c.Fitness
	calls, failed := s.Estimate(metrics.Calls), s.Estimate(metrics.FailedCalls)
	if fitness.AllFail && w.portion(failed, calls) != w.only() {
		return fmt.Sprintf("all %s%s fail", exactly(calls), w.jobs())
	}
	var reasons []string
	if fitness.SilentLosses {
		f := s.Estimate(metrics.SilentLosses)
		reasons = append(reasons, fmt.Sprintf("it counted %s %s%s (silent losses)", meanText(f),
			oneOrMany(f, "refusal as an answer", "refusals as answers"), onAverage(f)))
	}
	if fitness.Failed {
		reasons = append(reasons, fmt.Sprintf("%s %s%s", w.portion(failed, calls), oneOrMany(failed, "fails", "fail"), onAverage(failed)))
	}
	switch f := s.Estimate(metrics.OverdueCalls); {
	case !fitness.Overdue:
	case verdict.EqualOnAllSeeds(f, s.Estimate(metrics.HungCalls)):
		reasons = append(reasons, fmt.Sprintf("%s %s%s: no event is left that would end %s",
			w.portion(f, calls), oneOrMany(f, "hangs", "hang"), onAverage(f), oneOrMany(f, "it", "them")))
	default:
		what := "still pending"
		if !w.Scenario.OneShot {
			what = "overdue" // other pending calls may be in service
		}
		reasons = append(reasons, fmt.Sprintf("%s %s %s%s when the run ends", w.portion(f, calls), oneOrMany(f, "is", "are"), what, onAverage(f)))
	}
	if len(reasons) == 0 {
		return fmt.Sprintf("it answers %s of the %s", format.Percent(fitness.Upper.Estimate), w.jobs())
	}
	return strings.Join(reasons, "; ")
}

// overPeak returns by how much the herd peak exceeds the bound.
func (w verdictText) overPeak(s *metrics.StrategyResult) string {
	return fmt.Sprintf("its herd peak is %s × capacity, above the bound of %s ×",
		meanText(s.Estimate(metrics.HerdPeakOfCapacity)), format.Set(w.Rules.MaxPeak))
}

// doubt returns why it is undecided whether c is fit, and what would tell.
func (w verdictText) doubt(c *verdict.Contestant) string {
	f := &c.Fitness
	var parts []string
	if f.Success == verdict.Undecided {
		switch {
		case math.IsNaN(f.Lower.Estimate):
			parts = append(parts, "no call is judged")
		case f.Horizon > 0:
			parts = append(parts, fmt.Sprintf("%s to %s of the %s are answered, as some still wait at the end; a run of about %s would tell",
				format.Percent(f.Lower.Estimate), format.Percent(f.Upper.Estimate), w.jobs(), format.Seconds(math.Ceil(w.Scenario.Horizon+f.Horizon))))
		default:
			parts = append(parts, fmt.Sprintf("%s to %s of the %s are answered, at 95 %% confidence, and %s must be",
				format.Percent(f.Lower.Lo), format.Percent(f.Upper.Hi), w.jobs(), format.Percent(w.Rules.MinSuccess)))
		}
	}
	if f.Peak == verdict.Undecided {
		peak := c.Result.Estimate(metrics.HerdPeakOfCapacity)
		parts = append(parts, fmt.Sprintf("its herd peak is %s to %s × capacity, and the bound is %s ×",
			format.Number(*peak.Lo), format.Number(*peak.Hi), format.Set(w.Rules.MaxPeak)))
	}
	s := strings.Join(parts, "; ")
	if f.Seeds > 0 {
		s += fmt.Sprintf("; about %s seeds would tell", format.Number(float64(f.Seeds)))
	}
	return s
}

// onAverage is empty if f is the same on every seed.
func onAverage(f metrics.Estimate) string {
	if f.Constant() {
		return ""
	}
	return " on average"
}

// exactly returns the number of calls if it is the same on every seed, and else
// the article.
func exactly(calls metrics.Estimate) string {
	if calls.Constant() {
		return format.Number(*calls.PerSeed[0]) + " "
	}
	return "the "
}

// portion returns the mean of f as a part of the calls.
func (w verdictText) portion(f, calls metrics.Estimate) string {
	if exactly(calls) == "1 " && oneOrMany(f, "one", "many") == "one" {
		return w.only()
	}
	return fmt.Sprintf("%s of %s%s", meanText(f), exactly(calls), w.jobs())
}

// only returns the portion that is one call of one.
func (w verdictText) only() string { return "its only " + strings.TrimSuffix(w.jobs(), "s") }

// oneOrMany returns one if f is 1 on every seed, and else many.
func oneOrMany(f metrics.Estimate, one, many string) string {
	if f.Constant() && *f.PerSeed[0] == 1 {
		return one
	}
	return many
}

// jobs returns the noun for calls: workers with one job each are one-shot.
func (w verdictText) jobs() string {
	if w.Scenario.OneShot {
		return "jobs"
	}
	return "calls"
}
