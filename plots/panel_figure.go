package plots

import "math"

// panelFigure is a figure over time with one row per strategy: text at the left
// and a panel at the right. All panels have the same axes.
type panelFigure struct {
	name     string // of the figure
	headline string
	scenario string // the line below the headline
	legend   []legendEntry
	unit     string // of the vertical axis
	y        scale
	ticks    func(length float64) []tick
	pitch    float64 // from row to row
	gap      float64 // between panels
	text     func(r row) []string
	draw     func(cv canvas, r row, p panel)
	notes    []string // at the foot
}

// emptyResult is the text of a figure without strategies.
const emptyResult = "There is no strategy in this result."

// The sizes of a figure, in pixels.
const (
	pageWidth  = 1200
	margin     = 28
	textWidth  = 232
	axisWidth  = 46
	rightWidth = 114
	panelX     = margin + textWidth + axisWidth
	panelWidth = pageWidth - panelX - rightWidth
)

func (f panelFigure) figure(s *summary) *Figure {
	headlines := headline.wrap(f.headline, pageWidth-2*margin, 2)
	top := 16 + 28*float64(len(headlines)) + 19 + 78
	rows := float64(max(len(s.rows), 1))
	foot := 55 + 17*float64(len(f.notes)) - f.gap
	return &Figure{
		Name: f.name, Width: pageWidth, Height: int(top + rows*f.pitch + foot),
		draw: func(cv canvas) { f.drawOn(cv, s, headlines, top) },
	}
}

func (f panelFigure) drawOn(cv canvas, s *summary, headlines []string, top float64) {
	y := 16.0
	for _, line := range headlines {
		y += 28
		cv.text(margin, y-4, headline, black, 0, line)
	}
	y += 19
	cv.text(margin, y, body, grey, 0, f.scenario)
	if len(s.rows) == 0 {
		cv.text(margin, y+34, title, grey, 0, emptyResult)
		return
	}
	drawLegend(cv, margin, y+25, f.legend)
	cv.text(panelX-6, top-12, small, grey, 1, f.unit)

	p := panel{x: panelX, y: top, w: panelWidth, h: f.pitch - f.gap, time: s.window(), axis: f.y}
	end := float64(panelX) // right edge of the last fault's name
	for _, flt := range s.faults {
		name := small.fit(flt.Name, panelWidth/3)
		left := (p.at(flt.From)+p.at(flt.To))/2 - small.width(name)/2
		if left >= end && flt.From < p.time.hi {
			cv.text(left, top-23, small, grey, 0, name)
			end = left + small.width(name) + 8
		}
	}
	times, unit := p.time.times(10)
	for i, r := range s.rows {
		p.y, p.first = top+float64(i)*f.pitch, i == 0
		f.drawRow(cv, s, r, p, times)
	}
	bottom := p.y + p.h
	for _, t := range times {
		x := p.at(t.at)
		cv.vline(x, bottom, bottom+5, axisColour)
		cv.text(x, bottom+19, small, grey, 0.5, t.label)
	}
	cv.text(panelX+panelWidth, bottom+37, small, grey, 1, "time since the start of the run, "+unit.name)
	for i, line := range f.notes {
		cv.text(margin, bottom+37+17*float64(i+1), small, grey, 0, line)
	}
}

func (f panelFigure) drawRow(cv canvas, s *summary, r row, p panel, times []tick) {
	cv.rect(margin, p.y, 5, p.h, Colour(r.name))
	cv.nameAndText(r, margin+14, p.y+14, f.text(r))

	cv.rect(p.x, p.y, p.w, p.h, panelColour)
	for _, flt := range s.faults {
		x0, x1 := p.at(flt.From), p.at(flt.To)
		cv.rect(x0, p.y, x1-x0, p.h, faultColour)
	}
	for _, t := range times {
		cv.vline(p.at(t.at), p.y, p.y+p.h, gridColour)
	}
	for _, t := range f.ticks(p.h) {
		y := math.Round(p.down(t.at))
		cv.hline(p.x, p.x+p.w, y, gridColour)
		if t.label != "" {
			cv.text(p.x-6, y+4, small, grey, 1, t.label)
		}
	}
	f.draw(cv, r, p)
	cv.hline(p.x, p.x+p.w, p.y+p.h, axisColour)
}

// nameAndText writes the name of a strategy, whether it wins, and lines of text.
func (cv canvas) nameAndText(r row, x, y float64, lines []string) {
	width := float64(textWidth - 18)
	badge, c := "", grey
	switch {
	case r.winner:
		badge, c = "winner", green
	case r.disqualified:
		badge = "not eligible"
	}
	nameWidth := width
	if badge != "" {
		nameWidth -= small.width(badge) + 8
	}
	name := title.fit(clean(r.name), nameWidth)
	cv.text(x, y, title, black, 0, name)
	face := small
	face.bold = r.winner
	cv.text(x+title.width(name)+8, y, face, c, 0, badge)
	for i, line := range lines {
		cv.text(x, y+18+16*float64(i), small, grey, 0, small.fit(line, width))
	}
}
