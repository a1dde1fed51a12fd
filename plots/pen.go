package plots

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pen draws on a canvas in pixels from the upper left corner, the way a page
// is laid out.
type pen struct {
	c      draw.Canvas
	height float64
}

// point is a place in pixels from the upper left corner.
type point struct{ x, y float64 }

func (p pen) at(q point) vg.Point {
	return vg.Point{X: vg.Length(q.x), Y: vg.Length(p.height - q.y)}
}

// polygon fills the area inside pts.
func (p pen) polygon(pts []point, c color.Color) {
	if len(pts) < 3 {
		return
	}
	path := make(vg.Path, 0, len(pts)+1)
	path.Move(p.at(pts[0]))
	for _, q := range pts[1:] {
		path.Line(p.at(q))
	}
	path.Close()
	p.c.SetColor(c)
	p.c.Fill(path)
}

// rect fills the rectangle whose upper left corner is (x, y).
func (p pen) rect(x, y, width, height float64, c color.Color) {
	if width <= 0 || height <= 0 {
		return
	}
	p.polygon([]point{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}}, c)
}

// line strokes a line through pts; dash alternates lengths of ink and gap, and
// without it the line is solid.
func (p pen) line(pts []point, width float64, c color.Color, dash ...float64) {
	if len(pts) < 2 {
		return
	}
	dashes := make([]vg.Length, len(dash))
	for i, d := range dash {
		dashes[i] = vg.Length(d)
	}
	path := make(vg.Path, 0, len(pts))
	path.Move(p.at(pts[0]))
	for _, q := range pts[1:] {
		path.Line(p.at(q))
	}
	p.c.SetColor(c)
	p.c.SetLineWidth(vg.Length(width))
	p.c.SetLineDash(dashes, 0)
	p.c.Stroke(path)
}

// hline and vline stroke one row or column of pixels.
func (p pen) hline(x0, x1, y float64, c color.Color, dash ...float64) {
	p.line([]point{{x0, y + 0.5}, {x1, y + 0.5}}, 1, c, dash...)
}

func (p pen) vline(x, y0, y1 float64, c color.Color, dash ...float64) {
	p.line([]point{{x + 0.5, y0}, {x + 0.5, y1}}, 1, c, dash...)
}

// pointer fills a small triangle that points down to (x, y).
func (p pen) pointer(x, y float64, c color.Color) {
	p.polygon([]point{{x - 4.5, y - 8}, {x + 4.5, y - 8}, {x, y}}, c)
}

// hatch strokes diagonals over the rectangle whose upper left corner is (x, y).
func (p pen) hatch(x, y, width, height float64, c color.Color) {
	if width <= 0 || height <= 0 {
		return
	}
	const step = 6
	for d := float64(step); d < width+height; d += step {
		// The diagonal u + v = d, in the rectangle's own coordinates.
		a := point{x + min(d, width), y + max(0, d-width)}
		b := point{x + max(0, d-height), y + min(d, height)}
		p.line([]point{a, b}, 1.2, c)
	}
}

// text writes s with its baseline at y; align is the share of its width that
// lies left of x: 0 begins there, 0.5 is centred, 1 ends there.
func (p pen) text(x, y float64, t typeface, c color.Color, align float64, s string) {
	if s == "" {
		return
	}
	p.c.SetColor(c)
	p.c.FillString(t.face(), p.at(point{x - align*t.width(s), y}), s)
}

// plate writes s from x on upon paper that covers what lies behind.
func (p pen) plate(x, y float64, t typeface, c color.Color, s string) {
	p.rect(x-3, y-t.size+1, t.width(s)+6, t.size+3, paper)
	p.text(x, y, t, c, 0, s)
}

// label writes s as text does, on a veil that sets it off from what lies behind.
func (p pen) label(x, y float64, t typeface, c color.Color, align float64, s string) {
	w := t.width(s)
	p.rect(x-align*w-3, y-t.size+1, w+6, t.size+3, veil)
	p.text(x, y, t, c, align, s)
}
