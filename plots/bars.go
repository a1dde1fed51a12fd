package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"herdlab/sim/metrics"
)

// The measures of the bars, in pixels.
const (
	barHeight  = 24
	barPitch   = 38
	reasonLine = 18 // more for a row that says why it may not win
	groupGap   = 38 // more above those that may not win
)

// Bars draws what decides a comparison: the peak after the last fault and the
// drain, or the recovery where calls keep arriving, as bars with their 95 %
// intervals over the seeds. The winner comes first and those that may not win
// last, hatched and with the reason.
func Bars(r *metrics.Result) *Figure {
	s := newSheet(r)
	rows := s.ranked()
	columns := []barColumn{s.peakColumn(rows), s.settlingColumn(rows)}
	heads := headline.wrap(s.barsHeadline(), pageWidth-2*margin, 2)
	lead := body.wrap(s.sentence, pageWidth-2*margin, 4)
	notes := s.barNotes()

	top := 16 + 28*float64(len(heads)) + 19*float64(1+len(lead)) + 76
	bottom := top + 6 + barPitch*float64(max(len(rows), 1))
	for i, r := range rows {
		if r.disqualified {
			bottom += reasonLine
			if i == 0 || !rows[i-1].disqualified {
				bottom += groupGap
			}
		}
	}
	height := bottom + 40 + 17*float64(len(notes))
	return &Figure{Name: "bars", Width: pageWidth, Height: int(height), draw: func(p pen) {
		y := 16.0
		for _, line := range heads {
			y += 28
			p.text(margin, y-4, headline, ink, 0, line)
		}
		y += 19
		p.text(margin, y, body, quiet, 0, s.setting())
		for _, line := range lead {
			y += 19
			p.text(margin, y+4, body, ink, 0, line)
		}
		if len(rows) == 0 {
			p.text(margin, y+34, title, quiet, 0, nothing)
			return
		}
		for _, c := range columns {
			c.frame(p, top, bottom)
		}
		y = top + 6
		for i, r := range rows {
			if r.disqualified && (i == 0 || !rows[i-1].disqualified) {
				y += groupGap
				p.rect(margin, y-26, pageWidth-2*margin, 20, paper)
				p.text(margin, y-12, strong, quiet, 0, "Not eligible to win")
				p.hline(margin, pageWidth-margin, y-7, rule)
			}
			s.barRow(p, r, y, columns)
			y += barPitch
			if r.disqualified {
				y += reasonLine
			}
		}
		for i, line := range notes {
			p.text(margin, bottom+40+17*float64(i), small, quiet, 0, line)
		}
	}}
}

// lasting is what says how long a strategy takes: its drain or recovery, or its
// latency where nothing goes wrong that it could get over.
func (s *sheet) lasting() metrics.Metric {
	defined := func(m metrics.Metric) bool {
		return slices.ContainsFunc(s.rows, func(r row) bool { e := r.estimate(m); return e.known || e.never > 0 })
	}
	m, _ := s.settling()
	if !defined(m) && defined(metrics.LatencyP99) {
		return metrics.LatencyP99
	}
	return m
}

// ranked returns the rows: the winner, the others by how long they take and
// then by their peak, and those that may not win.
func (s *sheet) ranked() []row {
	m := s.lasting()
	group := func(r row) int {
		switch {
		case r.winner:
			return 0
		case r.disqualified:
			return 2
		}
		return 1
	}
	worth := func(r row, m metrics.Metric) float64 {
		if e := r.estimate(m); e.known {
			return e.value
		}
		return math.Inf(1)
	}
	rows := slices.Clone(s.rows)
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(
			cmp.Compare(group(a), group(b)),
			cmp.Compare(a.estimate(m).never, b.estimate(m).never),
			cmp.Compare(worth(a, m), worth(b, m)),
			cmp.Compare(worth(a, s.peak()), worth(b, s.peak())),
		)
	})
	return rows
}

// barsHeadline is the verdict in short: the case of its sentence, never
// another.
func (s *sheet) barsHeadline() string {
	switch s.outcome {
	case metrics.Won:
		return clean(s.winner) + " wins" + s.winnersFigures()
	case metrics.NoneFit:
		return "No strategy is fit to win"
	case metrics.NoMeaning:
		return "Nobody wins: " + s.judgedName() + " is undefined in this scenario"
	case metrics.Unreached:
		return "Nobody wins: none that is fit to win gets there on most seeds"
	}
	return "How high the herd peaks, and how long it takes"
}

// winnersFigures are what the winner wins on, if no column shows it, its peak
// and its drain or recovery.
func (s *sheet) winnersFigures() string {
	i := slices.IndexFunc(s.rows, func(r row) bool { return r.winner })
	if i < 0 {
		return "" // it is one of those that are not shown
	}
	r := s.rows[i]
	var parts []string
	if e := r.estimate(s.metric); e.known {
		switch s.metric {
		case metrics.LatencyP99:
			parts = append(parts, "a p99 latency of "+metrics.FormatTime(e.value, e.varies()))
		case metrics.SuccessRate:
			parts = append(parts, metrics.FormatPercent(e.value)+" answered")
		case metrics.Attempts:
			parts = append(parts, e.mean()+" attempts")
		}
	}
	if e := r.estimate(s.peak()).per(s.bin); e.known {
		text := "a peak of " + e.mean() + " per second"
		if s.capacity > 0 {
			text = "a peak of " + e.per(s.capacity).mean() + " × capacity"
		}
		parts = append(parts, text)
	}
	if parts = append(parts, s.settled(r)...); len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// judgedName is what the objective compares.
func (s *sheet) judgedName() string {
	switch s.metric {
	case metrics.LatencyP99:
		return "p99 latency"
	case metrics.PeakAfter:
		return "peak"
	}
	return strings.ReplaceAll(s.metric.Info().Name, "_", " ")
}

func (s *sheet) barNotes() []string {
	notes := "Bars: means"
	if s.seeds > 1 {
		notes += " over " + s.seedCount() + "; whiskers: their 95 % intervals"
	}
	notes += ". Where some seeds never get there, the bar is the median of all. Attempts are counted in bins of " + s.binWidth() + "."
	out := []string{notes}
	if s.omitted > 0 {
		out = append(out, fmt.Sprintf("%d more strategies are not shown.", s.omitted))
	}
	return out
}

// barRow draws the bars of one strategy.
func (s *sheet) barRow(p pen, r row, y float64, columns []barColumn) {
	p.rect(margin, y, 5, barHeight, Colour(r.name))
	if r.disqualified && r.reason != "" {
		const x = margin + 14
		p.plate(x, y+barHeight+15, small, quiet, small.fit(r.reason, pageWidth-margin-x))
	}
	for _, col := range columns {
		col.bar(p, r, y)
	}
	r.disqualified = false // the heading of the group says it
	p.words(r, margin+14, y+17, nil)
}
