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
// disqualified or undecided. A result without a verdict remains as it is.
func Explain(r *metrics.Result) error {
	if r.Verdict == nil {
		return nil
	}
	facts, err := verdict.Rejudge(r)
	if err != nil {
		return err
	}
	w := verdictText{facts, r.Verdict.More}
	r.Verdict.Sentence = w.sentence()
	for i := range r.Verdict.Disqualified {
		d := &r.Verdict.Disqualified[i]
		if c := facts.Find(d.Strategy); c != nil {
			d.Reason = w.reason(c)
		}
	}
	for i := range r.Verdict.Undecided {
		u := &r.Verdict.Undecided[i]
		if c := facts.Find(u.Strategy); c != nil {
			u.Reason = w.doubt(c)
		}
	}
	return nil
}

// verdictText writes the facts of a verdict as sentences.
type verdictText struct {
	*verdict.Facts
	more *metrics.Extra // the further seeds of the leaders
}

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
	case metrics.OnlyFit:
		s = append(s, w.onlyFit())
	case metrics.Level:
		s = append(s, w.level())
	case metrics.NotConfirmed:
		s = append(s, w.notConfirmed())
	case metrics.NotDecided:
		s = append(s, "No strategy is shown to be fit.")
	case metrics.NoneFit:
		s = append(s, w.noneFit())
	case metrics.NoMeaning:
		s = append(s, fmt.Sprintf("No strategy wins%s: it is undefined in this scenario; %s.", w.on(), w.alternatives()))
	default:
		s = append(s, w.unreached())
	}
	s = append(s, w.unjudged()...)
	s = append(s, w.undecided()...)
	return strings.Join(append(s, w.excluded()...), " ")
}

// win names the winner and its value.
func (w verdictText) win() string {
	return fmt.Sprintf("%s wins%s: %s.%s", w.Winner.Name, w.on(), w.quoted(w.Winner), w.lostNone(w.Winner))
}

// quoted returns the value of a strategy on fresh seeds, if there are any, and else on
// those of the choice.
func (w verdictText) quoted(c *verdict.Contestant) string {
	if f, ok := w.Fresh.Estimate(c.Name); ok {
		return w.valueWithSeeds(&f, "fresh seeds")
	}
	return w.valueWithSeeds(&c.Value, "seeds")
}

// lostNone returns how many calls may be lost though none was; empty if some were.
func (w verdictText) lostNone(c *verdict.Contestant) string {
	if !c.Fitness.LostNone {
		return ""
	}
	return fmt.Sprintf(" It loses none of the %s: at most %s at 95 %% confidence.", w.jobs(), format.Percent(1-c.Fitness.Lower.Lo))
}

// second compares the winner with the runner-up.
func (w verdictText) second() string {
	r := w.RunnerUp
	if r == nil {
		return fmt.Sprintf("No other fit strategy %s on most seeds.", w.reaches())
	}
	return fmt.Sprintf("The runner-up is %s with %s; the lead is significant (%s, paired by seed).",
		r.Name, w.quotedShort(r), format.PValue(w.Lead.P))
}

// quotedShort is quoted without the number of seeds.
func (w verdictText) quotedShort(c *verdict.Contestant) string {
	f, ok := w.Fresh.Estimate(c.Name)
	if !ok {
		f = c.Value
	}
	if f.Never > 0 {
		return w.valueWithSeeds(&f, "seeds")
	}
	return w.valueWithInterval(&f)
}

// onlyFit names the only fit strategy.
func (w verdictText) onlyFit() string {
	what := "is the only strategy that is fit"
	if len(w.Results) == 1 {
		what = "is fit, and the only strategy compared"
	}
	return fmt.Sprintf("%s %s. Its %s: %s.%s", w.Winner.Name, what, w.objective(), w.quoted(w.Winner), w.lostNone(w.Winner))
}

// level names the strategies that lead together.
func (w verdictText) level() string {
	var names []string
	lo, hi := math.Inf(1), math.Inf(-1)
	var some metrics.Estimate
	for _, c := range w.Leaders {
		names = append(names, c.Name)
		if m := c.Value.Mean; m != nil {
			lo, hi, some = min(lo, *m), max(hi, *m), c.Value
		}
	}
	seeds := len(w.Leaders[0].Value.PerSeed)
	s := fmt.Sprintf("There is no single winner%s: %s cannot be told apart with %s", w.on(), enumerate(names, "and"), count(seeds, "seed"))
	if some.Mean != nil {
		write, unit := w.format(&some)
		if write(lo) == write(hi) {
			s += fmt.Sprintf(" (%s%s)", write(lo), unit)
		} else {
			s += fmt.Sprintf(" (means of %s to %s%s)", write(lo), write(hi), unit)
		}
	}
	if seeds < verdict.MinSeeds {
		return s + fmt.Sprintf("; a winner takes at least %d seeds.", verdict.MinSeeds)
	}
	return s + "."
}

// notConfirmed returns that fresh seeds reversed the order.
func (w verdictText) notConfirmed() string {
	a, b := w.Leaders[0], w.Leaders[1]
	return fmt.Sprintf("There is no single winner%s: of %s and %s one leads on the seeds of the choice and the other on %s fresh seeds.",
		w.on(), a.Name, b.Name, format.Number(float64(len(w.Fresh.Seeds))))
}

// on names the objective, and why it is used if it was not chosen.
func (w verdictText) on() string {
	if w.Fallback {
		return " (no fault, so judged by " + w.objective() + ")"
	}
	return " on " + w.objective()
}

// unjudged returns that no peak is judged, if that is so.
func (w verdictText) unjudged() []string {
	for _, c := range w.Ranking {
		if c.Fitness.Peak != verdict.NotJudged {
			return nil
		}
	}
	return []string{"The herd peak is not judged, because the capacity has no bound."}
}

// undecided names the strategies of which the runs do not tell whether they are fit.
func (w verdictText) undecided() (s []string) {
	for _, c := range w.Rivals {
		s = append(s, fmt.Sprintf("%s %s, but is undecided: %s.", c.Name, w.superlative(&c.Value), w.doubt(c)))
	}
	var others []string
	for i := range w.Results { // in the order of the table
		c := w.Find(w.Results[i].Strategy)
		if c.Fitness.Answer() == verdict.Undecided && !slices.Contains(w.Rivals, c) {
			others = append(others, fmt.Sprintf("%s (%s)", c.Name, w.doubt(c)))
		}
	}
	if len(others) > 0 {
		s = append(s, "Undecided: "+strings.Join(others, "; ")+".")
	}
	return s
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
		s += fmt.Sprintf("the peak of each is above the bound of %s × capacity.", format.Set(w.Rules.MaxPeak))
	default:
		s += fmt.Sprintf("each one loses %s or has a peak above the bound of %s × capacity.", w.jobs(), format.Set(w.Rules.MaxPeak))
	}
	if c := w.LeastBad; c != nil {
		keeps := ""
		if !c.Fitness.OverPeak() && !math.IsNaN(c.PeakMultiple) { // there is a bound
			keeps = fmt.Sprintf(" and its peak stays under %s × capacity", format.Set(w.Rules.MaxPeak))
		}
		s += fmt.Sprintf(" Least bad is %s: it answers %s of the %s%s, but %s.",
			c.Name, format.Percent(c.Fitness.Lower.Estimate), w.jobs(), keeps, w.reason(c))
	}
	return s
}

// excluded names the disqualified strategies: first, with the full reason, one
// whose value is better than the winner's, then the others by what they share.
func (w verdictText) excluded() (s []string) {
	var better *verdict.Contestant
	if best := w.Ranking[0]; w.Winner != nil && best.Fitness.Answer() == verdict.Unfit && w.Better(best, w.Winner) {
		better = best
		s = append(s, fmt.Sprintf("%s %s, but is disqualified: %s.", best.Name, w.superlative(&best.Value), w.reason(best)))
	}
	var over, rest []string
	var lowest, highest *verdict.Contestant
	for i := range w.Results { // in the order of the table
		c := w.Find(w.Results[i].Strategy)
		switch {
		case c.Fitness.Answer() != verdict.Unfit || c == better:
		case !c.Fitness.LosesCalls() && c.Fitness.OverPeak():
			over = append(over, c.Name)
			if lowest == nil || c.PeakMultiple < lowest.PeakMultiple {
				lowest = c
			}
			if highest == nil || c.PeakMultiple > highest.PeakMultiple {
				highest = c
			}
		default:
			rest = append(rest, fmt.Sprintf("%s (%s)", c.Name, w.reason(c)))
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
	a, b := meanText(lowest.Result.Estimate(metrics.HerdPeakOfCapacity)), meanText(highest.Result.Estimate(metrics.HerdPeakOfCapacity))
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
