package plots

import (
	"fmt"
	"math"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
)

// Goodput draws useful answers per second over time: one panel per strategy, all
// on the same linear scale, in about sixty bins.
func Goodput(r *metrics.Result) *Figure {
	s := newSummary(r)
	width := s.goodputBin()
	rebinned := func(c series) rates {
		return c.rebin(max(1, int(math.Round(min(width/c.width, 1e9)))), s.after, s.horizon)
	}
	most := s.capacity
	for _, r := range s.rows {
		for _, v := range rebinned(r.useful).rate {
			most = max(most, v)
		}
	}
	if most == 0 {
		most = 1
	}
	f := panelFigure{
		name: "goodput", headline: s.goodputHeadline(), unit: "answers per second",
		scenario: s.scenarioLine(),
		pitch:    min(max(math.Floor(1040/float64(max(len(s.rows), 1))), 78), 140), gap: 16,
		text:  s.goodputText,
		y:     scale{hi: most * 1.12},
		notes: s.notes("Useful answers per second in bins of " + format.Width(width)),
	}
	f.ticks = func(length float64) []tick { return f.y.round(max(1, int(length/15))) }
	f.draw = func(cv canvas, r row, p panel) {
		n := int(p.w)
		p.area(cv, rebinned(r.useful).columns(p.time.lo, p.time.hi, n), 0, Colour(r.name))
		if !s.oneShot {
			p.steps(cv, rebinned(r.calls).columns(p.time.lo, p.time.hi, n), callsColour)
		}
		p.capacityLine(cv, s.capacity)
		s.markSettled(cv, r, p)
		p.continuation(cv, r, s.capacity)
	}
	f.legend = []legendEntry{{fullArea, "useful answers"}}
	if !s.oneShot {
		f.legend = append(f.legend, legendEntry{solidLine, "new calls"})
	}
	if s.capacity > 0 {
		f.legend = append(f.legend, legendEntry{dashedLine, "capacity"})
	}
	if len(s.faults) > 0 {
		_, verb := s.settlingMetric()
		f.legend = append(f.legend, legendEntry{shadedArea, s.faultNames()}, legendEntry{settledMark, verb})
	}
	return f.figure(s)
}

// goodputBin returns a width of bins in seconds: a multiple of the width in the
// result, so that about sixty bins fill the time axis.
func (s *summary) goodputBin() float64 {
	w := s.window()
	width := niceTime((w.hi - w.lo) / 60)
	return s.bin * max(1, math.Ceil(width/s.bin-1e-9))
}

// goodputHeadline states what the figure shows.
func (s *summary) goodputHeadline() string {
	switch {
	case len(s.faults) == 0:
		return "Useful answers per second, by strategy"
	case s.capacity == 0:
		return fmt.Sprintf("Useful answers per second during the %s and after it, by strategy", s.fault())
	}
	return fmt.Sprintf("Useful answers per second, compared with the capacity after the %s, by strategy", s.fault())
}

// goodputText returns the metrics of a strategy, as means over the seeds.
func (s *summary) goodputText(r row) []string {
	var lines []string
	if e := r.estimate(metrics.SuccessRate); e.known {
		lines = append(lines, format.Percent(e.value)+" of calls answered")
	}
	if e := r.estimate(metrics.SilentLosses); e.known && e.value > 0 {
		lines = append(lines, e.mean()+" silent losses")
	}
	return append(lines, s.settledText(r)...)
}

// markSettled marks the time at which the run with the first seed had drained or
// recovered after the last fault.
func (s *summary) markSettled(cv canvas, r row, p panel) {
	m, verb := s.settlingMetric()
	v := r.values[m.Info().Name]
	if len(s.faults) == 0 || len(v.PerSeed) == 0 {
		return
	}
	first := v.PerSeed[0]
	if first == nil && v.Never > 0 {
		cv.textOnPanel(p.at(s.after)+8, p.y+p.h*0.42, small, grey, 0, "never "+verb)
	}
	if !usable(first) || *first < 0 {
		return
	}
	t := s.after + *first
	if t > p.time.hi {
		return
	}
	x, text := p.at(t), format.Settling(*first, false)
	if text == format.AtOnce {
		text = verb + " " + text
	} else {
		text = verb + " after " + text
	}
	cv.vline(x, p.y, p.y+p.h, green, 2, 2)
	cv.triangle(x+0.5, p.y+8, green)
	y := p.y + p.h*0.42
	if x+9+small.width(text) < p.x+p.w {
		cv.textOnPanel(x+7, y, small, green, 0, text)
	} else {
		cv.textOnPanel(x-7, y, small, green, 1, text)
	}
}
