package plots

import (
	"fmt"
	"math"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
)

// secondPeak is the multiple of the capacity that a peak after the last fault
// must exceed to be called a second peak.
const secondPeak = 2

// Attempts draws attempts per second over time: one panel per strategy, all on
// the same logarithmic scale, with the peak after the last fault marked.
func Attempts(r *metrics.Result) *Figure {
	s := newSummary(r)
	// The smallest rate above 0 is one attempt in a bin.
	least, most := math.Inf(1), s.capacity
	for _, r := range s.rows {
		least = min(least, 1/r.attempts.width)
		peak, _ := r.attempts.peak(math.Inf(-1))
		most = max(most, peak)
	}
	if len(s.rows) == 0 {
		least = 1
	}
	f := panelFigure{
		name: "attempts", headline: s.attemptsHeadline(), scenario: s.scenarioLine(), unit: "attempts per second, log scale",
		pitch: min(max(math.Floor(1340/float64(max(len(s.rows), 1))), 102), 150), gap: 24,
		text: s.attemptsText, notes: s.notes("Attempts per second in bins of " + s.binWidth()),
	}
	if w := s.window(); (w.hi-w.lo)/s.bin > 1.2*panelWidth {
		f.notes = append(f.notes, "Each column of pixels shows the highest of its bins.")
	}
	f.y = logScale(least, most)
	f.ticks = func(length float64) []tick { return f.y.decades(length, 15) }
	f.draw = s.attemptsPanel
	f.legend = s.attemptsLegend()
	return f.figure(s)
}

// attemptsHeadline states what the figure shows.
func (s *summary) attemptsHeadline() string {
	switch {
	case len(s.faults) == 0:
		return "Attempts per second, by strategy"
	case s.capacity == 0:
		return fmt.Sprintf("Attempts per second during the %s and after it, by strategy", s.fault())
	}
	over := 0
	for _, r := range s.rows {
		if peak, _ := r.attempts.peak(s.after); peak > secondPeak*s.capacity {
			over++
		}
	}
	if over == 0 {
		return fmt.Sprintf("No second peak: after the %s every strategy stays within %d × capacity", s.fault(), secondPeak)
	}
	share := ""
	if len(s.rows) > 1 {
		share = fmt.Sprintf(" with %d of %d strategies", over, len(s.rows))
	}
	if !s.oneShot {
		// Part of the peak may be new calls.
		return fmt.Sprintf("After the %s, attempts peak above %d × capacity%s", s.fault(), secondPeak, share)
	}
	return fmt.Sprintf("A second peak above %d × capacity after the %s%s", secondPeak, s.fault(), share)
}

func (s *summary) attemptsLegend() []legendEntry {
	legend := []legendEntry{{paleArea, "attempts"}}
	switch {
	case s.capacity == 0 && len(s.faults) == 0:
		legend[0].mark = fullArea
	case s.capacity > 0 && len(s.faults) > 0:
		legend = append(legend, legendEntry{fullArea, s.binsName() + " above capacity after the " + s.fault()})
	case s.capacity > 0:
		legend = append(legend, legendEntry{fullArea, s.binsName() + " above capacity"})
	default:
		legend = append(legend, legendEntry{fullArea, "attempts after the " + s.fault()})
	}
	if s.capacity > 0 {
		legend = append(legend, legendEntry{dashedLine, "capacity"})
	}
	peak := legendEntry{blackTriangle, "peak: highest " + s.binName()}
	if len(s.faults) > 0 {
		legend = append(legend, legendEntry{shadedArea, s.faultNames()})
		peak.text += " after the " + s.fault()
	}
	legend = append(legend, peak)
	if s.capacity > 0 {
		legend = append(legend, legendEntry{redTriangle, fmt.Sprintf("peak above %d × capacity", secondPeak)})
	}
	return legend
}

// attemptsPanel draws the attempts of one strategy.
func (s *summary) attemptsPanel(cv canvas, r row, p panel) {
	columns := r.attempts.columns(p.time.lo, p.time.hi, int(p.w))
	c := Colour(r.name)
	p.area(cv, columns, 0, pale(c))
	clear(columns[:int(p.at(s.after)-p.x)])
	p.area(cv, columns, s.capacity, c)
	p.capacityLine(cv, s.capacity)
	s.markPeak(cv, r, p)
	p.continuation(cv, r, s.capacity)
}

// markPeak marks the highest bin after the last fault and writes its rate.
func (s *summary) markPeak(cv canvas, r row, p panel) {
	peak, at := r.attempts.peak(s.after)
	if peak == 0 {
		if len(s.faults) > 0 {
			cv.textOnPanel(p.at(s.after)+8, p.y+p.h/2, small, grey, 0, "no attempt after the "+s.fault())
		}
		return
	}
	text, face, c := format.Number(peak)+" /s", small, black
	if s.capacity > 0 {
		text += " = " + format.Number(peak/s.capacity) + " × capacity"
		if peak > secondPeak*s.capacity {
			face, c = boldLabel, red
		}
	}
	newCalls := ""
	if !s.oneShot {
		newCalls = "(new calls: " + format.Number(r.calls.at(at)) + " /s)"
	}
	middle := at + r.attempts.width/2
	if middle > p.time.hi {
		cv.textOnPanel(p.x+p.w-6, p.y+14, face, c, 1, text+" at "+p.moment(at))
		return
	}
	// The label is above the peak; that of the highest peak is between two panels.
	x, y := p.at(middle)+0.5, p.down(peak)-1
	cv.triangle(x, y, c)
	left, w := x+9, face.width(text)
	newCallsAt := w
	if newCalls != "" {
		newCallsAt += 6
		w = newCallsAt + small.width(newCalls)
	}
	if left+w > p.x+p.w {
		left = x - 9 - w
	}
	cv.textOnPanel(left, y-4, face, c, 0, text)
	if newCalls != "" {
		cv.textOnPanel(left+newCallsAt, y-4, small, grey, 0, newCalls)
	}
}

// attemptsText returns the metrics of a strategy, as means over the seeds.
func (s *summary) attemptsText(r row) []string {
	var lines []string
	if e := r.estimate(s.peak()).per(s.bin); e.known {
		line := "peak " + e.mean() + " /s"
		if s.capacity > 0 && e.value > 0 {
			line += fmt.Sprintf(" (%s × capacity)", e.per(s.capacity).mean())
		}
		lines = append(lines, line)
	}
	lines = append(lines, s.settledText(r)...)
	if e := r.estimate(metrics.Amplification); e.known {
		unit := " attempts per call"
		if e.mean() == "1" {
			unit = " attempt per call"
		}
		lines = append(lines, e.mean()+unit)
	}
	return lines
}

// settledText returns the time that a strategy took to drain or recover after
// the last fault, or nothing if there was no fault.
func (s *summary) settledText(r row) []string {
	m, verb := s.settlingMetric()
	e := r.estimate(m)
	some := "never " + verb + " in " + format.Percent(e.never) + " of seeds"
	switch {
	case e.never == 1:
		return []string{"never " + verb}
	case e.never > 0 && !e.known:
		return []string{some}
	case !e.known:
		return nil
	}
	text := format.Settling(e.value, e.varies())
	if text == format.AtOnce {
		text = verb + " " + text
	} else {
		text = verb + " in " + text
	}
	if e.never > 0 {
		return []string{text, some}
	}
	return []string{text}
}
