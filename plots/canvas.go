package plots

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// canvas draws in pixels from the upper left corner; gonum/plot measures from the
// lower left corner.
type canvas struct {
	c      draw.Canvas
	height float64
}

// point is a place in pixels from the upper left corner.
type point struct{ x, y float64 }

func (cv canvas) at(q point) vg.Point {
	return vg.Point{X: vg.Length(q.x), Y: vg.Length(cv.height - q.y)}
}

// polygon fills the area inside pts.
func (cv canvas) polygon(pts []point, c color.Color) {
	if len(pts) < 3 {
		return
	}
	path := make(vg.Path, 0, len(pts)+1)
	path.Move(cv.at(pts[0]))
	for _, q := range pts[1:] {
		path.Line(cv.at(q))
	}
	path.Close()
	cv.c.SetColor(c)
	cv.c.Fill(path)
}

// rect fills the rectangle whose upper left corner is (x, y).
func (cv canvas) rect(x, y, width, height float64, c color.Color) {
	if width <= 0 || height <= 0 {
		return
	}
	cv.polygon([]point{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}}, c)
}

// line draws a line through pts. The lengths in dash are alternately drawn and
// left out; without dash the line is solid.
func (cv canvas) line(pts []point, width float64, c color.Color, dash ...float64) {
	if len(pts) < 2 {
		return
	}
	lengths := make([]vg.Length, len(dash))
	for i, d := range dash {
		lengths[i] = vg.Length(d)
	}
	path := make(vg.Path, 0, len(pts))
	path.Move(cv.at(pts[0]))
	for _, q := range pts[1:] {
		path.Line(cv.at(q))
	}
	cv.c.SetColor(c)
	cv.c.SetLineWidth(vg.Length(width))
	cv.c.SetLineDash(lengths, 0)
	cv.c.Stroke(path)
}

// hline draws a horizontal line that is one pixel wide.
func (cv canvas) hline(x0, x1, y float64, c color.Color, dash ...float64) {
	cv.line([]point{{x0, y + 0.5}, {x1, y + 0.5}}, 1, c, dash...)
}

// vline draws a vertical line that is one pixel wide.
func (cv canvas) vline(x, y0, y1 float64, c color.Color, dash ...float64) {
	cv.line([]point{{x + 0.5, y0}, {x + 0.5, y1}}, 1, c, dash...)
}

// triangle fills a small triangle that points down to (x, y).
func (cv canvas) triangle(x, y float64, c color.Color) {
	cv.polygon([]point{{x - 4.5, y - 8}, {x + 4.5, y - 8}, {x, y}}, c)
}

// hatch draws diagonal lines over the rectangle whose upper left corner is (x, y).
func (cv canvas) hatch(x, y, width, height float64, c color.Color) {
	if width <= 0 || height <= 0 {
		return
	}
	const step = 6
	for d := float64(step); d < width+height; d += step {
		// The diagonal u + v = d, in the rectangle's own coordinates.
		a := point{x + min(d, width), y + max(0, d-width)}
		b := point{x + max(0, d-height), y + min(d, height)}
		cv.line([]point{a, b}, 1.2, c)
	}
}

// text writes s with its baseline at y; align is the share of its width that
// lies left of x: 0 begins there, 0.5 is centred, 1 ends there.
func (cv canvas) text(x, y float64, t typeface, c color.Color, align float64, s string) {
	if s == "" {
		return
	}
	cv.c.SetColor(c)
	cv.c.FillString(t.face(), cv.at(point{x - align*t.width(s), y}), s)
}

// textOnWhite writes s from x on, on a white background.
func (cv canvas) textOnWhite(x, y float64, t typeface, c color.Color, s string) {
	cv.rect(x-3, y-t.size+1, t.width(s)+6, t.size+3, white)
	cv.text(x, y, t, c, 0, s)
}

// textOnPanel writes s as text does, on a translucent background.
func (cv canvas) textOnPanel(x, y float64, t typeface, c color.Color, align float64, s string) {
	w := t.width(s)
	cv.rect(x-align*w-3, y-t.size+1, w+6, t.size+3, translucent)
	cv.text(x, y, t, c, align, s)
}
