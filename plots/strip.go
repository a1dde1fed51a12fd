package plots

import (
	"image/color"
	"math"

	"herdlab/sim/metrics"
)

// strip is the frame of the figures over time: one row a strategy, words at the
// left and a panel at the right, all panels over one axis of time.
type strip struct {
	name     string // of the figure
	headline string
	lead     []string // below the headline, a line each
	keys     []key
	unit     string // of the vertical axis
	y        scale
	ticks    func(length float64) []tick
	pitch    float64 // from row to row
	gap      float64 // between panels
	words    func(r row) []string
	panel    func(p pen, r row, b box)
	notes    []string // at the foot
}

// box is a panel: where it lies and what its axes mean.
type box struct {
	x, y, w, h float64
	time, axis scale
	first      bool // of the figure
}

func (b box) at(t float64) float64   { return b.x + math.Round(b.time.at(t)*b.w) }
func (b box) down(v float64) float64 { return b.y + b.h - b.axis.at(v)*b.h }

// nothing is what figures of an empty result say.
const nothing = "There is no strategy in this result."

// The measures of a page, in pixels.
const (
	pageWidth  = 1200
	margin     = 28
	wordsWidth = 232
	axisWidth  = 46
	rightWidth = 114
	panelX     = margin + wordsWidth + axisWidth
	panelWidth = pageWidth - panelX - rightWidth
)

func (f strip) figure(s *sheet) *Figure {
	heads := headline.wrap(f.headline, pageWidth-2*margin, 2)
	top := 16 + 28*float64(len(heads)) + 19*float64(len(f.lead)) + 78
	rows := float64(max(len(s.rows), 1))
	foot := 55 + 17*float64(len(f.notes)) - f.gap
	return &Figure{
		Name: f.name, Width: pageWidth, Height: int(top + rows*f.pitch + foot),
		draw: func(p pen) { f.draw(p, s, heads, top) },
	}
}

func (f strip) draw(p pen, s *sheet, heads []string, top float64) {
	y := 16.0
	for _, line := range heads {
		y += 28
		p.text(margin, y-4, headline, ink, 0, line)
	}
	for _, line := range f.lead {
		y += 19
		p.text(margin, y, body, quiet, 0, line)
	}
	if len(s.rows) == 0 {
		p.text(margin, y+34, title, quiet, 0, nothing)
		return
	}
	drawKeys(p, margin, y+25, f.keys)
	p.text(panelX-6, top-12, small, quiet, 1, f.unit)

	b := box{x: panelX, y: top, w: panelWidth, h: f.pitch - f.gap, time: s.window(), axis: f.y}
	end := float64(panelX) // of the last name
	for _, flt := range s.faults {
		name := small.fit(flt.Name, panelWidth/3)
		left := (b.at(flt.From)+b.at(flt.To))/2 - small.width(name)/2
		if left >= end && flt.From < b.time.hi {
			p.text(left, top-23, small, quiet, 0, name)
			end = left + small.width(name) + 8
		}
	}
	times, unit := b.time.times(10)
	for i, r := range s.rows {
		b.y, b.first = top+float64(i)*f.pitch, i == 0
		f.drawRow(p, s, r, b, times)
	}
	bottom := b.y + b.h
	for _, t := range times {
		x := b.at(t.at)
		p.vline(x, bottom, bottom+5, rule)
		p.text(x, bottom+19, small, quiet, 0.5, t.label)
	}
	p.text(panelX+panelWidth, bottom+37, small, quiet, 1, "time since the start of the run, "+unit.name)
	for i, line := range f.notes {
		p.text(margin, bottom+37+17*float64(i+1), small, quiet, 0, line)
	}
}

func (f strip) drawRow(p pen, s *sheet, r row, b box, times []tick) {
	c := Colour(r.name)
	p.rect(margin, b.y, 5, b.h, c)
	p.words(r, margin+14, b.y+14, f.words(r))

	p.rect(b.x, b.y, b.w, b.h, panel)
	for _, flt := range s.faults {
		x0, x1 := b.at(flt.From), b.at(flt.To)
		p.rect(x0, b.y, x1-x0, b.h, shade)
	}
	for _, t := range times {
		p.vline(b.at(t.at), b.y, b.y+b.h, grid)
	}
	for _, t := range f.ticks(b.h) {
		y := math.Round(b.down(t.at))
		p.hline(b.x, b.x+b.w, y, grid)
		if t.label != "" {
			p.text(b.x-6, y+4, small, quiet, 1, t.label)
		}
	}
	f.panel(p, r, b)
	p.hline(b.x, b.x+b.w, b.y+b.h, rule)
}

// words writes a strategy's name and lines about it.
func (p pen) words(r row, x, y float64, lines []string) {
	width := float64(wordsWidth - 18)
	badge, c := "", quiet
	switch {
	case r.winner:
		badge, c = "winner", praise
	case r.disqualified:
		badge = "not eligible"
	}
	nameWidth := width
	if badge != "" {
		nameWidth -= small.width(badge) + 8
	}
	name := title.fit(clean(r.name), nameWidth)
	p.text(x, y, title, ink, 0, name)
	face := small
	face.bold = r.winner
	p.text(x+title.width(name)+8, y, face, c, 0, badge)
	for i, line := range lines {
		p.text(x, y+18+16*float64(i), small, quiet, 0, small.fit(line, width))
	}
}

// area fills the columns of pixels from the bottom of the panel to their
// height, if that is above over, a value of the axis.
func (b box) area(p pen, columns []float64, over float64, c color.Color) {
	floor := b.y + b.h
	for i := 0; i < len(columns); {
		if !(columns[i] > over) {
			i++
			continue
		}
		// One polygon for a run of columns, with one step for each run of
		// equal ones.
		pts := []point{{b.x + float64(i), floor}}
		for i < len(columns) && columns[i] > over {
			j := i + 1
			for j < len(columns) && columns[j] == columns[i] {
				j++
			}
			y := b.down(columns[i])
			pts = append(pts, point{b.x + float64(i), y}, point{b.x + float64(j), y})
			i = j
		}
		p.polygon(append(pts, point{b.x + float64(i), floor}), c)
	}
}

// steps strokes the upper edges of the columns of pixels that are not empty.
func (b box) steps(p pen, columns []float64, c color.Color) {
	for i := 0; i < len(columns); {
		j := i + 1
		for j < len(columns) && columns[j] == columns[i] {
			j++
		}
		if columns[i] > 0 {
			y := b.down(columns[i])
			p.line([]point{{b.x + float64(i), y}, {b.x + float64(j), y}}, 1.5, c)
		}
		i = j
	}
}

// capacityLine draws the capacity with its label.
func (b box) capacityLine(p pen, capacity float64) {
	if capacity == 0 {
		return
	}
	y := math.Round(b.down(capacity))
	p.hline(b.x, b.x+b.w, y, ink, 5, 3)
	text, c := metrics.FormatSet(capacity)+" /s", quiet
	if b.first {
		text, c = "capacity "+text, ink
	}
	p.text(b.x+b.w+6, y+4, small, c, 0, small.fit(text, rightWidth-12))
}

// cut says at the end of the axis of time that attempts go on, or above the
// label of the capacity if that is in the way.
func (b box) cut(p pen, r row, capacity float64) {
	end := r.attempts.lastActive()
	if end <= b.time.hi {
		return
	}
	const line = 15
	y := b.y + b.h
	if label := math.Round(b.down(capacity)) + 4; capacity > 0 && label > y-line {
		y = label - line
	}
	p.text(b.x+b.w+6, y, small, ink, 0, small.fit("until "+b.moment(end)+" →", rightWidth-12))
}

// moment writes a time of the run in the unit of the axis.
func (b box) moment(t float64) string {
	u := unitFor(b.time.hi - b.time.lo)
	return metrics.FormatNumber(t/u.seconds) + " " + u.name
}
