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

// The marks of the table. They do not depend on colour.
const (
	winnerMark       = "★ "
	leaderMark       = "☆ "
	undecidedMark    = "? "
	disqualifiedMark = "✗ "
	noMark           = "  "
)

// minSparks is the least width of the sparklines; names of strategies are clipped to
// leave it.
const minSparks = 8

// drawTable appends the comparison, one strategy a line.
func drawTable(b *strings.Builder, p palette, r *metrics.Result) {
	cols := []*column{
		nameColumn(r, 3),
		numbers(r, []string{"", "", "success"}, successCell),
		numbers(r, []string{"", "attempts", "per call"}, meanOf(metrics.Amplification, " ×")),
		peakColumn(r),
		settlingColumn(r),
		numbers(r, []string{"", "latency", "p99"}, latencyCell),
	}
	room := pageWidth - gridWidth(cols) - gap
	if room < minSparks {
		clipNames(cols[0], minSparks-room)
		room = pageWidth - gridWidth(cols) - gap
	}
	s := newSparks(r, max(room, 0))
	if room > 0 {
		cols = append(cols, sparkColumn(r, &s))
	}
	drawGrid(b, p, cols)
	drawLegend(b, p, r, &s, room > 0 && strings.HasSuffix(cols[len(cols)-1].head[1], seedOf(r)))
	drawNotes(b, r)
}

// standing returns the mark and the look of a strategy by the verdict.
func standing(r *metrics.Result, strategy string) (mark string, l look) {
	if r.Verdict == nil {
		return noMark, plain
	}
	if strategy == r.Verdict.Winner {
		return winnerMark, good
	}
	if slices.Contains(r.Verdict.Leaders, strategy) {
		return leaderMark, good
	}
	for _, d := range r.Verdict.Disqualified {
		if d.Strategy == strategy {
			return disqualifiedMark, faint
		}
	}
	for _, u := range r.Verdict.Undecided {
		if u.Strategy == strategy {
			return undecidedMark, plain
		}
	}
	return noMark, plain
}

// nameColumn lists the strategies with their marks, under a heading of the given number
// of lines.
func nameColumn(r *metrics.Result, lines int) *column {
	c := &column{left: true, head: make([]string, lines)}
	if lines > 0 {
		c.head[lines-1] = noMark + "strategy"
	}
	for i := range r.Results {
		name := printable(r.Results[i].Strategy)
		mark, l := standing(r, r.Results[i].Strategy)
		c.add(mark+name, l)
	}
	return c
}

// clipNames makes the column of names narrower by the given width, but not narrower
// than its heading.
func clipNames(c *column, by int) {
	width := max(c.width()-by, len("strategy")+len(noMark))
	for i := range c.cells {
		c.cells[i].text = clip(c.cells[i].text, width)
	}
}

// numbers returns a column with the text that show returns for each strategy.
func numbers(r *metrics.Result, head []string, show func(*metrics.StrategyResult) string) *column {
	c := &column{head: head}
	for i := range r.Results {
		s := &r.Results[i]
		_, l := standing(r, s.Strategy)
		c.add(show(s), l)
	}
	return c
}

// peakColumn returns the peak that is judged: the herd peak as a multiple of the
// capacity, or where that has no bound the peak after the last fault, or of the whole
// run if there is no fault.
func peakColumn(r *metrics.Result) *column {
	switch m := verdict.ByPeak.Metric(&r.Scenario); m {
	case metrics.HerdPeak:
		return numbers(r, []string{"", "herd", "peak"}, meanOf(metrics.HerdPeakOfCapacity, " ×"))
	case metrics.Peak:
		return numbers(r, []string{"whole", "peak,", per(r.Scenario.Bin)}, meanOf(m, ""))
	default:
		return numbers(r, []string{"peak", "after,", per(r.Scenario.Bin)}, meanOf(m, ""))
	}
}

// settling returns the time that is judged: drain of one-shot fleets, recovery of
// others.
func settling(r *metrics.Result) metrics.Metric { return verdict.ByDrain.Metric(&r.Scenario) }

// settlingWord is the name of that time in tables.
func settlingWord(r *metrics.Result) string {
	return strings.TrimSuffix(settling(r).Info().Name, "_time")
}

func settlingColumn(r *metrics.Result) *column {
	return numbers(r, []string{"", "", settlingWord(r)}, settlingCell(settling(r)))
}

// sparkColumn draws the attempts over time. Its heading has the seed if there is room.
func sparkColumn(r *metrics.Result, s *sparks) *column {
	rate := per(r.Scenario.Bin)
	c := &column{left: true, head: []string{
		fitting([]string{"attempts"}, s.width),
		fitting([]string{rate + ", " + seedOf(r), rate, "per bin"}, s.width),
		s.heading([]string{faultName(r), "fault", "out"}, []string{"after", "then"}),
	}}
	for i := range r.Results {
		_, l := standing(r, r.Results[i].Strategy)
		c.add(s.line(r.Results[i].Timeline.Attempts), l)
	}
	return c
}

// seedOf names the seed whose timelines are drawn.
func seedOf(r *metrics.Result) string { return fmt.Sprintf("seed %d", r.Results[0].Timeline.Seed) }

// faultName returns the name of the last fault.
func faultName(r *metrics.Result) string {
	name := "fault"
	end := math.Inf(-1)
	for _, f := range r.Scenario.Faults {
		if f.To > end {
			name, end = printable(f.Name), f.To
		}
	}
	return name
}

// per returns the unit of a count per bin.
func per(bin float64) string { return "per " + binWidth(bin) }

func binWidth(bin float64) string {
	if bin == 1 {
		return "s"
	}
	return format.Width(bin)
}
