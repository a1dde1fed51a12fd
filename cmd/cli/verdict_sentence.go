package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
	"herdlab/sim/verdict"
)

// Explain writes the text of r's verdict: its sentence, and why strategies are
// disqualified. A result without a verdict remains as it is.
func Explain(r *metrics.Result) error {
	if r.Verdict == nil {
		return nil
	}
	facts, err := verdict.Rejudge(r)
	if err != nil {
		return err
	}
	w := verdictText{facts}
	r.Verdict.Sentence = w.sentence()
	for i := range r.Verdict.Disqualified {
		d := &r.Verdict.Disqualified[i]
		if c := facts.Find(d.Strategy); c != nil {
			d.Reason = w.reason(c)
		}
	}
	return nil
}

// verdictText writes the facts of a verdict as sentences.
type verdictText struct{ *verdict.Facts }

// sentence returns the verdict as text.
func (w verdictText) sentence() string {
	var s []string
	if !w.Complete {
		if len(w.Results) == 0 {
			return "The comparison was interrupted, or failed, before any strategy was complete."
		}
		s = append(s, "The comparison was interrupted, or a strategy failed; this is the verdict on the complete strategies.")
	}
	switch w.Outcome {
	case metrics.Nothing:
		return "There is nothing to compare."
	case metrics.Won:
		s = append(s, w.win(), w.second())
	case metrics.NoneFit:
		s = append(s, w.noneFit())
	case metrics.NoMeaning:
		s = append(s, fmt.Sprintf("No strategy wins%s: it is undefined in this scenario; %s.", w.on(), w.alternatives()))
	default:
		s = append(s, w.unreached())
	}
	return strings.Join(append(s, w.excluded()...), " ")
}

// win names the winner and its value.
func (w verdictText) win() string {
	return fmt.Sprintf("%s wins%s: %s.", w.Winner.Name, w.on(), w.valueWithSeeds(&w.Winner.Value))
}

// second compares the winner with the runner-up.
func (w verdictText) second() string {
	r := w.RunnerUp
	if r == nil {
		switch {
		case len(w.Results) == 1:
			return "It is the only strategy compared."
		case len(w.Fit()) > 1:
			return fmt.Sprintf("No other fit strategy %s on most seeds.", w.reaches())
		}
		return "No other strategy is fit to win."
	}
	if w.Lead.Pairs == 0 {
		return w.level()
	}
	value := w.valueWithInterval(&r.Value)
	if r.Value.Never > 0 {
		value = w.valueWithSeeds(&r.Value)
	}
	s := fmt.Sprintf("The runner-up is %s with %s; ", r.Name, value)
	switch {
	case w.Lead.Standing == verdict.Better:
		return s + fmt.Sprintf("the difference is significant (%s, paired by seed).", format.PValue(w.Lead.P))
	case w.Lead.Standing == verdict.Worse:
		return s + fmt.Sprintf("it is better on more than half of the seeds (%s).", format.PValue(w.Lead.P))
	case len(w.Seeds) < verdict.MinPairs:
		return s + fmt.Sprintf("at least %d seeds are needed to test the difference.", verdict.MinPairs)
	}
	return s + fmt.Sprintf("the difference is not significant (%s, paired by seed).", format.PValue(w.Lead.P))
}

// on names the objective, and why it is used if it was not chosen.
func (w verdictText) on() string {
	if w.Fallback {
		return " (no fault, so judged by " + w.objective() + ")"
	}
	return " on " + w.objective()
}

// level returns what decides if the runner-up equals the winner on every seed.
func (w verdictText) level() string {
	name := w.RunnerUp.Name
	more := ""
	if a, b := w.Winner.Result.Estimate(metrics.Attempts), w.RunnerUp.Result.Estimate(metrics.Attempts); a.Mean != nil && b.Mean != nil && *a.Mean < *b.Mean {
		more = fmt.Sprintf("makes more attempts (%s against %s)", meanText(b), meanText(a))
	}
	switch n := w.Level; {
	case n > 2 && more != "":
		return fmt.Sprintf("%d strategies have the same value on every seed, so fewer attempts decide; the runner-up, %s, %s.", n, name, more)
	case n > 2 && w.Metric == metrics.Attempts:
		return fmt.Sprintf("%d strategies have the same value on every seed, so the order of the table decides; the runner-up is %s.", n, name)
	case n > 2:
		return fmt.Sprintf("%d strategies have the same value on every seed, so fewer attempts decide, and then the order of the table; the runner-up is %s.", n, name)
	case more != "":
		return fmt.Sprintf("The runner-up, %s, has the same value on every seed but %s.", name, more)
	}
	return fmt.Sprintf("The runner-up, %s, has the same value on every seed.", name)
}

// unreached returns why no fit strategy wins though the objective has a meaning.
func (w verdictText) unreached() string {
	var names []string
	where := "within the run of " + format.Seconds(w.Scenario.Horizon)
	for _, c := range w.Fit() {
		names = append(names, c.Name)
		if c.Value.Never < 1 {
			where = "on most seeds"
		}
	}
	if len(names) == 1 {
		return fmt.Sprintf("No strategy wins%s: %s never %s %s.", w.on(), names[0], w.reaches(), where)
	}
	return fmt.Sprintf("No strategy wins%s: none of %s %s %s.", w.on(), enumerate(names, "and"), w.reaches(), where)
}

// reaches returns the predicate of a strategy whose value is not never.
func (w verdictText) reaches() string {
	switch w.Metric {
	case metrics.DrainTime:
		return "drains"
	case metrics.RecoveryTime:
		return "recovers"
	}
	return "has a finite value"
}

// alternatives names the objectives that have a meaning for a fit strategy.
func (w verdictText) alternatives() string {
	var names []string
	for _, o := range w.Alternatives() {
		names = append(names, o.String())
	}
	if len(names) == 0 {
		return "so is every other objective"
	}
	return "choose " + enumerate(names, "or")
}

// noneFit returns why no strategy is fit, and which is the least bad.
func (w verdictText) noneFit() string {
	s := "No strategy is fit to win: "
	losing, over := 0, 0
	for _, c := range w.Ranking {
		if c.Fitness.LosesCalls() {
			losing++
		} else {
			over++
		}
	}
	switch {
	case over == 0:
		s += fmt.Sprintf("each one loses %s.", w.jobs())
	case losing == 0:
		s += fmt.Sprintf("the peak of each is above the bound of %s × capacity.", format.Set(w.MaxPeak))
	default:
		s += fmt.Sprintf("each one loses %s or has a peak above the bound of %s × capacity.", w.jobs(), format.Set(w.MaxPeak))
	}
	if c := w.LeastBad; c != nil {
		keeps := ""
		if !c.Fitness.OverPeak && !math.IsNaN(c.PeakMultiple) { // there is a bound
			keeps = fmt.Sprintf(" and its peak stays under %s × capacity", format.Set(w.MaxPeak))
		}
		success := c.Result.Estimate(metrics.SuccessRate)
		s += fmt.Sprintf(" Least bad is %s: it answers %s of the %s%s, but %s.",
			c.Name, format.Percent(*success.Mean), w.jobs(), keeps, w.reason(c))
	}
	return s
}

// excluded names the disqualified strategies: first, with the full reason, one
// whose value is better than the winner's, then the others by what they share.
func (w verdictText) excluded() (s []string) {
	var better *verdict.Contestant
	if best := w.Ranking[0]; w.Winner != nil && !best.Fitness.Fit() && w.Better(best, w.Winner) {
		better = best
		s = append(s, fmt.Sprintf("%s %s, but is disqualified: %s.", best.Name, w.superlative(&best.Value), w.reason(best)))
	}
	var over, rest []string
	var lowest, highest *verdict.Contestant
	for i := range w.Results { // in the order of the table
		c := w.Find(w.Results[i].Strategy)
		switch {
		case c.Fitness.Fit() || c == better:
		case !c.Fitness.LosesCalls():
			over = append(over, c.Name)
			if lowest == nil || c.PeakMultiple < lowest.PeakMultiple {
				lowest = c
			}
			if highest == nil || c.PeakMultiple > highest.PeakMultiple {
				highest = c
			}
		default:
			rest = append(rest, fmt.Sprintf("%s (%s)", c.Name, w.losses(c)))
		}
	}
	if len(over) > 0 {
		rest = slices.Insert(rest, 0, fmt.Sprintf("%s (%s × capacity)", enumerate(over, "and"), peakRange(lowest, highest)))
	}
	if len(rest) > 0 {
		also := "Disqualified: "
		if better != nil {
			also = "Also disqualified: "
		}
		s = append(s, also+strings.Join(rest, "; ")+".")
	}
	return s
}

// peakRange returns the peaks of the strategies from lowest to highest.
func peakRange(lowest, highest *verdict.Contestant) string {
	a, b := meanText(lowest.Result.Estimate(metrics.PeakAfterOfCapacity)), meanText(highest.Result.Estimate(metrics.PeakAfterOfCapacity))
	if a == b {
		return "peak of " + b
	}
	return "peaks of " + a + " to " + b
}

// enumerate joins names by commas and the conjunction.
func enumerate(names []string, conjunction string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " " + conjunction + " " + names[n-1]
	}
	return strings.Join(names, "")
}
