package metrics

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// sentence says the verdict to a person.
func (j *judging) sentence() string {
	var s []string
	if !j.Complete {
		if len(j.Results) == 0 {
			return "The comparison was interrupted, or failed, before any strategy was finished."
		}
		s = append(s, "The comparison was interrupted, or a strategy failed; this is the verdict on the strategies that were finished.")
	}
	switch j.outcome() {
	case Nothing:
		return "There is nothing to compare."
	case Won:
		s = append(s, j.win(), j.seconded())
	case NoneFit:
		s = append(s, j.nobody())
	case NoMeaning:
		s = append(s, fmt.Sprintf("Nobody wins%s: it is undefined in this scenario; %s.", j.on(), j.others()))
	default:
		s = append(s, j.unreached())
	}
	return strings.Join(append(s, j.excluded()...), " ")
}

// eligible names the eligible, the best first.
func (j *judging) eligible() (names []string) {
	for _, c := range j.ranking {
		if c.eligible() {
			names = append(names, c.name)
		}
	}
	return names
}

// win says who wins, and by what.
func (j *judging) win() string {
	return fmt.Sprintf("%s wins%s: %s.", j.winner.name, j.on(), j.figureText(&j.winner.figure))
}

// seconded says how the runner-up compares.
func (j *judging) seconded() string {
	r := j.runnerUp
	if r == nil {
		if len(j.Results) == 1 {
			return "It is the only strategy compared."
		}
		if len(j.eligible()) > 1 {
			return "No other strategy that is fit to win gets there on most seeds."
		}
		return "No other strategy is fit to win."
	}
	if j.lead.Pairs == 0 {
		return j.tied()
	}
	figure := j.shortText(&r.figure)
	if r.figure.Never > 0 {
		figure = j.figureText(&r.figure)
	}
	s := fmt.Sprintf("The runner-up is %s with %s; ", r.name, figure)
	switch {
	case j.lead.Standing == Better:
		return s + fmt.Sprintf("the difference is significant (%s, paired by seed).", pText(j.lead.P))
	case j.lead.Standing == Worse:
		return s + fmt.Sprintf("seed by seed it is ahead more often than behind (%s).", pText(j.lead.P))
	case len(j.Seeds) < MinPairs:
		return s + fmt.Sprintf("whether the difference is luck takes at least %d seeds to tell.", MinPairs)
	}
	return s + fmt.Sprintf("the difference is not significant (%s, paired by seed).", pText(j.lead.P))
}

// on says what is judged, and why if nobody chose it.
func (j *judging) on() string {
	if j.fallback {
		return " (no fault, so judged by " + j.noun() + ")"
	}
	return " on " + j.noun()
}

// tied says that the runner-up is level with the winner, and what decides.
func (j *judging) tied() string {
	name := j.runnerUp.name
	more := ""
	if w, r := j.winner.result.Figure(Attempts), j.runnerUp.result.Figure(Attempts); w.Mean != nil && r.Mean != nil && *w.Mean < *r.Mean {
		more = fmt.Sprintf("makes more attempts (%s against %s)", average(r), average(w))
	}
	switch n := j.level(); {
	case n > 2 && more != "":
		return fmt.Sprintf("%d strategies are level on every seed, so fewer attempts decide; the runner-up, %s, %s.", n, name, more)
	case n > 2 && j.metric == Attempts:
		return fmt.Sprintf("%d strategies are level on every seed, so the order of the table decides; the runner-up is %s.", n, name)
	case n > 2:
		return fmt.Sprintf("%d strategies are level on every seed, so fewer attempts decide, and then the order of the table; the runner-up is %s.", n, name)
	case more != "":
		return fmt.Sprintf("The runner-up, %s, is level with it on every seed but %s.", name, more)
	}
	return fmt.Sprintf("The runner-up, %s, is level with it on every seed.", name)
}

// level counts the eligible strategies that are level with the winner on every
// seed, the winner among them.
func (j *judging) level() int {
	n := 0
	best := j.signed(j.winner)
	for _, c := range j.ranking {
		if c.eligible() && c.arrives() && Paired(best, j.signed(c)).Pairs == 0 {
			n++
		}
	}
	return n
}

// unreached says why no eligible strategy wins though the objective has a
// meaning.
func (j *judging) unreached() string {
	names := j.eligible()
	where := "within the run of " + FormatSeconds(j.Scenario.Horizon)
	for _, name := range names {
		if j.contestant(name).figure.Never < 1 {
			where = "on most seeds"
		}
	}
	if len(names) == 1 {
		return fmt.Sprintf("Nobody wins%s: %s does not get there %s.", j.on(), names[0], where)
	}
	return fmt.Sprintf("Nobody wins%s: none of %s gets there %s.", j.on(), list(names), where)
}

// others says which objectives have a meaning for those that are fit to win.
func (j *judging) others() string {
	var names []string
	for o := range numObjectives {
		m := o.Metric(&j.Scenario)
		if slices.ContainsFunc(j.ranking, func(c *contestant) bool {
			f := c.result.Figure(m)
			return c.eligible() && (f.Mean != nil || f.Never > 0)
		}) {
			names = append(names, o.String())
		}
	}
	switch n := len(names); n {
	case 0:
		return "so is every other objective"
	case 1:
		return "choose " + names[0]
	default:
		return "choose " + strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
}

// nobody says that no strategy is eligible, and which is least bad.
func (j *judging) nobody() string {
	s := "No strategy is fit to win: "
	losing, over := 0, 0
	for _, c := range j.ranking {
		if c.loss != "" {
			losing++
		} else {
			over++
		}
	}
	switch {
	case over == 0:
		s += fmt.Sprintf("each one loses %s.", j.jobs())
	case losing == 0:
		s += fmt.Sprintf("each one's peak is over the bound of %s × capacity.", FormatSet(j.maxPeak))
	default:
		s += fmt.Sprintf("each one either loses %s or has a peak over the bound of %s × capacity.", j.jobs(), FormatSet(j.maxPeak))
	}
	if c := j.leastBad(); c != nil {
		keeps := ""
		if c.over == "" && !math.IsNaN(c.multiple) { // there is a bound
			keeps = " and keeps to the bound"
		}
		s += fmt.Sprintf(" Least bad is %s: it answers %s of the %s%s, but %s.",
			c.name, FormatPercent(c.result.mean(SuccessRate)), j.jobs(), keeps, c.reason())
	}
	return s
}

// excluded names the disqualified: first, with the full reason, the one that
// looks better than the winner, then the others by what they have in common.
func (j *judging) excluded() (s []string) {
	var dazzling *contestant
	if best := j.ranking[0]; j.winner != nil && !best.eligible() && best.rank() == 0 &&
		(j.winner.rank() > 0 || j.score(best) < j.score(j.winner)) {
		dazzling = best
		s = append(s, fmt.Sprintf("%s %s, but is disqualified: %s.", best.name, j.superlative(&best.figure), best.reason()))
	}
	var tall, rest []string
	var lowest, highest *contestant
	for i := range j.Results { // in the order of the table
		c := j.contestant(j.Results[i].Strategy)
		switch {
		case c.eligible() || c == dazzling:
		case c.loss == "":
			tall = append(tall, c.name)
			if lowest == nil || c.multiple < lowest.multiple {
				lowest = c
			}
			if highest == nil || c.multiple > highest.multiple {
				highest = c
			}
		default:
			rest = append(rest, fmt.Sprintf("%s (%s)", c.name, c.loss))
		}
	}
	if len(tall) > 0 {
		rest = append([]string{fmt.Sprintf("%s (%s × capacity)", list(tall), between(lowest, highest))}, rest...)
	}
	if len(rest) > 0 {
		also := "Disqualified: "
		if dazzling != nil {
			also = "Also disqualified: "
		}
		s = append(s, also+strings.Join(rest, "; ")+".")
	}
	return s
}

// between writes how high the peaks of the disqualified are.
func between(lowest, highest *contestant) string {
	a, b := average(lowest.result.Figure(PeakAfterOfCapacity)), average(highest.result.Figure(PeakAfterOfCapacity))
	if a == b {
		return "peak of " + b
	}
	return "peaks of " + a + " to " + b
}

func (j *judging) contestant(name string) *contestant {
	for _, c := range j.ranking {
		if c.name == name {
			return c
		}
	}
	return nil
}

// list writes names as English does.
func list(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// pText writes a p-value with two significant digits.
func pText(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.*f", places(p)-1, p)
}
