package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
)

// The sizes in Bars, in pixels.
const (
	barHeight  = 24
	barPitch   = 38
	reasonLine = 18 // extra height of a row with the reason why the strategy is not eligible
	groupGap   = 38 // extra space above the strategies that are not eligible
)

// Bars draws the metrics that decide a comparison: the peak after the last fault,
// and the drain time or, if calls keep arriving, the recovery time. Each is a bar
// with its 95 % interval over the seeds. The winner comes first. The strategies
// that are not eligible come last, hatched and with the reason.
func Bars(r *metrics.Result) *Figure {
	s := newSummary(r)
	rows := s.ranked()
	columns := []barColumn{s.peakColumn(rows), s.settlingColumn(rows)}
	headlines := headline.wrap(s.barsHeadline(), pageWidth-2*margin, 2)
	sentence := body.wrap(s.sentence, pageWidth-2*margin, 4)
	notes := s.barNotes()

	top := 16 + 28*float64(len(headlines)) + 19*float64(1+len(sentence)) + 76
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
	return &Figure{Name: "bars", Width: pageWidth, Height: int(height), draw: func(cv canvas) {
		y := 16.0
		for _, line := range headlines {
			y += 28
			cv.text(margin, y-4, headline, black, 0, line)
		}
		y += 19
		cv.text(margin, y, body, grey, 0, s.scenarioLine())
		for _, line := range sentence {
			y += 19
			cv.text(margin, y+4, body, black, 0, line)
		}
		if len(rows) == 0 {
			cv.text(margin, y+34, title, grey, 0, emptyResult)
			return
		}
		for _, c := range columns {
			c.frame(cv, top, bottom)
		}
		y = top + 6
		for i, r := range rows {
			if r.disqualified && (i == 0 || !rows[i-1].disqualified) {
				y += groupGap
				cv.rect(margin, y-26, pageWidth-2*margin, 20, white)
				cv.text(margin, y-12, boldBody, grey, 0, "Not eligible to win")
				cv.hline(margin, pageWidth-margin, y-7, axisColour)
			}
			s.barRow(cv, r, y, columns)
			y += barPitch
			if r.disqualified {
				y += reasonLine
			}
		}
		for i, line := range notes {
			cv.text(margin, bottom+40+17*float64(i), small, grey, 0, line)
		}
	}}
}

// durationMetric is the metric of the second column: the drain or recovery time,
// or the latency if there is no fault.
func (s *summary) durationMetric() metrics.Metric {
	defined := func(m metrics.Metric) bool {
		return slices.ContainsFunc(s.rows, func(r row) bool { e := r.estimate(m); return e.known || e.never > 0 })
	}
	m, _ := s.settlingMetric()
	if !defined(m) && defined(metrics.LatencyP99) {
		return metrics.LatencyP99
	}
	return m
}

// ranked returns the rows in the order of Bars: the winner, the others, and the
// strategies that are not eligible; within a group by duration and then by peak.
func (s *summary) ranked() []row {
	m := s.durationMetric()
	group := func(r row) int {
		switch {
		case r.winner:
			return 0
		case r.disqualified:
			return 2
		}
		return 1
	}
	value := func(r row, m metrics.Metric) float64 {
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
			cmp.Compare(value(a, m), value(b, m)),
			cmp.Compare(value(a, s.peak()), value(b, s.peak())),
		)
	})
	return rows
}

// barsHeadline is the verdict in short. It agrees with the verdict's sentence.
func (s *summary) barsHeadline() string {
	switch s.outcome {
	case metrics.Won:
		return clean(s.winner) + " wins" + s.winnersValues()
	case metrics.OnlyFit:
		return clean(s.winner) + " is the only fit strategy" + s.winnersValues()
	case metrics.Level, metrics.NotConfirmed:
		return "No single winner: " + s.leaders + " lead together"
	case metrics.NotDecided:
		return "No strategy is shown to be fit"
	case metrics.NoneFit:
		return "No strategy is eligible to win"
	case metrics.NoMeaning:
		return "No winner: " + s.judgedName() + " is undefined in this scenario"
	case metrics.Unreached:
		return "No winner: for most seeds, the " + s.judgedName() + " of every eligible strategy is never"
	}
	return "Peak and " + s.metricName(s.durationMetric()) + ", by strategy"
}

// winnersValues returns the values of the winner: the judged metric if no column
// shows it, the peak, and the drain or recovery time.
func (s *summary) winnersValues() string {
	i := slices.IndexFunc(s.rows, func(r row) bool { return r.winner })
	if i < 0 {
		return "" // its row is not shown
	}
	r := s.rows[i]
	var parts []string
	if e := r.estimate(s.metric); e.known {
		switch s.metric {
		case metrics.LatencyP99:
			parts = append(parts, "a p99 latency of "+format.Time(e.value, e.varies()))
		case metrics.SuccessLower:
			parts = append(parts, format.Percent(e.value)+" answered")
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
	if parts = append(parts, s.settledText(r)...); len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// judgedName is the name of the metric that the objective compares.
func (s *summary) judgedName() string { return s.metricName(s.metric) }

func (s *summary) metricName(m metrics.Metric) string {
	switch m {
	case metrics.LatencyP99:
		return "p99 latency"
	case metrics.PeakAfter:
		return "peak"
	}
	return strings.ReplaceAll(m.Info().Name, "_", " ")
}

// barNotes returns the text at the foot of Bars.
func (s *summary) barNotes() []string {
	notes := "Bars: means"
	if s.seeds > 1 {
		notes += " over " + s.seedCount() + "; whiskers: their 95 % intervals"
	}
	notes += ". If a time is never for some seeds, the bar is the median over all seeds. Attempts are counted in bins of " + s.binWidth() + "."
	if s.capacity > 0 {
		notes += " ×: multiples of the capacity."
	}
	out := []string{notes}
	if s.omitted > 0 {
		out = append(out, fmt.Sprintf("%d more strategies are not shown.", s.omitted))
	}
	return out
}

// barRow draws the bars of one strategy.
func (s *summary) barRow(cv canvas, r row, y float64, columns []barColumn) {
	cv.rect(margin, y, 5, barHeight, Colour(r.name))
	if r.disqualified && r.reason != "" {
		const x = margin + 14
		cv.textOnWhite(x, y+barHeight+15, small, grey, small.fit(r.reason, pageWidth-margin-x))
	}
	for _, col := range columns {
		col.bar(cv, r, y)
	}
	r.disqualified = false // the heading of the group contains it
	cv.nameAndText(r, margin+14, y+17, nil)
}
