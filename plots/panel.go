package plots

import (
	"image/color"
	"math"

	"herdlab/sim/metrics/format"
)

// panel is the chart of one strategy: its place and its axes.
type panel struct {
	x, y, w, h float64
	time, axis scale
	first      bool // of the figure
}

// at returns the horizontal place of a time.
func (p panel) at(t float64) float64 { return p.x + math.Round(p.time.at(t)*p.w) }

// down returns the vertical place of a value.
func (p panel) down(v float64) float64 { return p.y + p.h - p.axis.at(v)*p.h }

// area fills each column of pixels from the bottom of the panel to its value, if
// that is above over. Both are values of the vertical axis.
func (p panel) area(cv canvas, columns []float64, over float64, c color.Color) {
	floor := p.y + p.h
	for i := 0; i < len(columns); {
		if !(columns[i] > over) {
			i++
			continue
		}
		// One polygon for consecutive columns, with one step for equal values.
		pts := []point{{p.x + float64(i), floor}}
		for i < len(columns) && columns[i] > over {
			j := i + 1
			for j < len(columns) && columns[j] == columns[i] {
				j++
			}
			y := p.down(columns[i])
			pts = append(pts, point{p.x + float64(i), y}, point{p.x + float64(j), y})
			i = j
		}
		cv.polygon(append(pts, point{p.x + float64(i), floor}), c)
	}
}

// steps draws the upper edges of the columns of pixels that are not empty.
func (p panel) steps(cv canvas, columns []float64, c color.Color) {
	for i := 0; i < len(columns); {
		j := i + 1
		for j < len(columns) && columns[j] == columns[i] {
			j++
		}
		if columns[i] > 0 {
			y := p.down(columns[i])
			cv.line([]point{{p.x + float64(i), y}, {p.x + float64(j), y}}, 1.5, c)
		}
		i = j
	}
}

// lineHeight is the distance between the lines of text at the right of a panel.
const lineHeight = 15

// capacityLine draws the capacity with its label.
func (p panel) capacityLine(cv canvas, capacity float64) {
	if capacity == 0 {
		return
	}
	y := math.Round(p.down(capacity))
	cv.hline(p.x, p.x+p.w, y, black, 5, 3)
	const width = rightWidth - 12
	c := grey
	if p.first {
		c = black
		cv.text(p.x+p.w+6, y+4-lineHeight, small, c, 0, "capacity")
	}
	text := format.Set(capacity) + " per second"
	if small.width(text) > width {
		text = format.Set(capacity) + " /s"
	}
	cv.text(p.x+p.w+6, y+4, small, c, 0, small.fit(text, width))
}

// continuation writes until when the attempts continue, if that is after the end
// of the time axis. The text is at the end of the axis, or above the label of the
// capacity if the two would overlap.
func (p panel) continuation(cv canvas, r row, capacity float64) {
	end := r.attempts.lastActive()
	if end <= p.time.hi {
		return
	}
	y := p.y + p.h
	if capacity > 0 {
		label := math.Round(p.down(capacity)) + 4
		if p.first {
			label -= lineHeight // it has two lines
		}
		if label > y-lineHeight {
			y = label - lineHeight
		}
	}
	cv.text(p.x+p.w+6, y, small, black, 0, small.fit("until "+p.moment(end)+" →", rightWidth-12))
}

// moment writes a time of the run in the unit of the time axis.
func (p panel) moment(t float64) string {
	u := unitFor(p.time.hi - p.time.lo)
	return format.Number(t/u.seconds) + " " + u.name
}
