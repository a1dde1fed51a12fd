package plots

import (
	"math"
	"strings"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
)

// barColumn is one metric of Bars: its place, its scale and the format of its
// values.
type barColumn struct {
	title  string
	x, w   float64
	axis   scale
	ticks  []tick
	marks  []tick // vertical lines with a label
	values func(r row) estimate
	text   func(e estimate) string
	never  string // the text of a time that is never
}

// The columns, and the space at their right for the value of the longest bar.
const (
	barsX      = margin + textWidth + 8
	barsGap    = 24
	valueSpace = 122
	barsWidth  = (pageWidth-margin-barsX-barsGap)/2 - valueSpace
)

// peakColumn is the column of the peak after the last fault.
func (s *summary) peakColumn(rows []row) barColumn {
	c := barColumn{title: "Peak", x: barsX, w: barsWidth}
	if len(s.faults) > 0 {
		c.title = "Peak after the " + s.fault()
	}
	c.title += ", attempts per second"
	c.values = func(r row) estimate { return r.estimate(s.peak()).per(s.bin) }
	c.text = func(e estimate) string {
		if s.capacity == 0 || e.value == 0 {
			return e.mean() + " /s"
		}
		return e.mean() + " /s (" + e.per(s.capacity).mean() + " ×)"
	}
	if s.capacity > 0 {
		c.marks = append(c.marks, tick{s.capacity, "capacity"})
		if s.maxPeak > 0 && len(s.faults) > 0 {
			c.marks = append(c.marks, tick{s.capacity * s.maxPeak, "bound " + format.Set(s.maxPeak) + " × capacity"})
		}
	}
	c.fit(rows)
	return c
}

// settlingColumn is the column of the drain or recovery time, or of the latency
// if there is no fault.
func (s *summary) settlingColumn(rows []row) barColumn {
	c := barColumn{x: barsX + barsWidth + valueSpace + barsGap, w: barsWidth}
	c.text = func(e estimate) string { return format.Settling(e.value, e.varies()) }
	_, verb := s.settlingMetric()
	c.never = "never " + verb
	c.title = "Drain time"
	if !s.oneShot {
		c.title = "Recovery time"
	}
	if len(s.faults) > 0 {
		c.title += " after the " + s.fault()
	}
	m := s.durationMetric()
	if m == metrics.LatencyP99 {
		c.title = "99th percentile of latency"
		c.text = func(e estimate) string { return format.Time(e.value, e.varies()) }
	}
	c.title += ", seconds"
	c.values = func(r row) estimate { return r.estimate(m) }
	c.fit(rows)
	if u := unitFor(c.axis.hi); c.axis.hi < 1e-3 {
		c.title = strings.Replace(c.title, ", seconds", ", "+u.name, 1)
		for i := range c.ticks {
			if c.ticks[i].label != "" {
				c.ticks[i].label = format.Set(c.ticks[i].at / u.seconds)
			}
		}
	}
	return c
}

// fit chooses the scale: linear from 0, or logarithmic if the small values would
// be invisible on a linear one.
func (c *barColumn) fit(rows []row) {
	least, most := math.Inf(1), 0.0
	for _, m := range c.marks {
		least, most = min(least, m.at), max(most, m.at)
	}
	for _, r := range rows {
		if e := c.values(r); e.known && positive(e.value) > 0 {
			most = max(most, e.hi)
			least = min(least, e.value)
		}
	}
	if most == 0 { // without values, an axis would be invented
		c.axis = scale{hi: 1}
		return
	}
	least = min(least, most)
	const tooWide = 40
	if most/least <= tooWide {
		c.axis = scale{hi: most * 1.05}
		c.ticks = c.axis.round(5)
		return
	}
	c.title += ", log scale"
	// Even the shortest bar has a visible length.
	c.axis = scale{lo: math.Pow(10, math.Floor(math.Log10(least)-0.2)), hi: most * 1.1, log: true}
	c.ticks = c.axis.decades(c.w, 50)
}

func (c *barColumn) at(v float64) float64 { return c.x + math.Round(c.axis.at(v)*c.w) }

// frame draws the title, the axis, the grid and the vertical lines.
func (c *barColumn) frame(cv canvas, top, bottom float64) {
	cv.text(c.x, top-34, boldBody, black, 0, c.title)
	for _, t := range c.ticks {
		x := c.at(t.at)
		cv.vline(x, top, bottom, gridColour)
		cv.text(x, bottom+16, small, grey, 0.5, t.label)
	}
	cv.hline(c.x, c.x+c.w, bottom, axisColour)
	cv.vline(c.x, top, bottom, axisColour)
	end := math.Inf(-1) // right edge of the last label
	for _, m := range c.marks {
		x := c.at(m.at)
		cv.vline(x, top, bottom, black, 5, 3)
		left := max(x-small.width(m.label)/2, end+10)
		cv.text(left, top-8, small, black, 0, m.label)
		end = left + small.width(m.label)
	}
}

// bar draws one bar with its interval and its value; y is its upper edge.
func (c *barColumn) bar(cv canvas, r row, y float64) {
	e, col := c.values(r), Colour(r.name)
	const middle = barHeight / 2
	if !e.known {
		text := "undefined"
		if e.never > 0 {
			text = c.never
			if e.never < 1 {
				text += " in " + format.Percent(e.never) + " of seeds"
			}
		}
		cv.textOnPanel(c.x+7, y+middle+4, boldBody, black, 0, text)
		return
	}
	end := c.at(e.value)
	if r.disqualified {
		cv.rect(c.x+1, y, end-c.x-1, barHeight, mix(col, white, 0.75))
		cv.hatch(c.x+1, y, end-c.x-1, barHeight, mix(col, white, 0.25))
	} else {
		cv.rect(c.x+1, y, end-c.x-1, barHeight, col)
	}
	if e.hi > e.lo {
		x0, x1, m := c.at(e.lo), c.at(e.hi), y+middle
		cv.line([]point{{x0, m}, {x1, m}}, 1.5, black)
		cv.line([]point{{x0, m - 4}, {x0, m + 4}}, 1.5, black)
		cv.line([]point{{x1, m - 4}, {x1, m + 4}}, 1.5, black)
		end = max(end, x1)
	}
	text := c.text(e)
	if e.never > 0 {
		text += ", " + format.Percent(e.never) + " never"
	}
	cv.textOnWhite(end+7, y+middle+4, small, black, text)
}
