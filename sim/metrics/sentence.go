package metrics

import (
	"fmt"
	"math"
	"strings"
)

// sentence says the verdict to a person.
func (j *judging) sentence() string {
	var s []string
	if !j.Complete {
		if len(j.Results) == 0 {
			return "The comparison was interrupted before any strategy was finished."
		}
		s = append(s, "The comparison was interrupted; this is the verdict on the strategies that were finished.")
	}
	switch {
	case len(j.Results) == 0:
		return "There is nothing to compare."
	case j.winner != nil:
		s = append(s, j.win(), j.seconded())
	case len(j.eligible()) > 0:
		s = append(s, j.unreached())
	default:
		s = append(s, j.nobody())
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
	return fmt.Sprintf("%s wins on %s: %s.", j.winner.name, j.noun(), j.figureText(&j.winner.figure))
}

// seconded says how the runner-up compares.
func (j *judging) seconded() string {
	w, r := j.winner, j.runnerUp
	if r == nil {
		if len(j.Results) == 1 {
			return "It is the only strategy compared."
		}
		return "No other strategy is fit to win."
	}
	if j.lead.Pairs == 0 {
		s := fmt.Sprintf("The runner-up, %s, is level with it on every seed", r.name)
		if w.result.mean(Attempts) < r.result.mean(Attempts) {
			s += fmt.Sprintf(" but makes more attempts (%s against %s)",
				average(r.result.Figure(Attempts)), average(w.result.Figure(Attempts)))
		}
		return s + "."
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

// unreached says why no eligible strategy wins.
func (j *judging) unreached() string {
	names := j.eligible()
	if j.contestant(names[0]).figure.Undefined == 1 {
		return fmt.Sprintf("Nobody wins on %s: it is undefined in this scenario; choose another objective.", j.noun())
	}
	if len(names) == 1 {
		return fmt.Sprintf("Nobody wins on %s: %s does not get there within the run of %s.", j.noun(), names[0], FormatSeconds(j.Scenario.Horizon))
	}
	return fmt.Sprintf("Nobody wins on %s: none of %s gets there within the run of %s.", j.noun(), list(names), FormatSeconds(j.Scenario.Horizon))
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
		keeps := "keeps to the bound and "
		if math.IsNaN(c.multiple) { // there is none
			keeps = ""
		}
		s += fmt.Sprintf(" Least bad is %s, which %sanswers %s of the %s.",
			c.name, keeps, FormatPercent(c.result.mean(SuccessRate)), j.jobs())
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
