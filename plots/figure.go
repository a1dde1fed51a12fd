package plots

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figure is a picture that PNG and SVG encode. The figure of a nil result
// contains only a text that there is no strategy.
type Figure struct {
	// Name is the name of its files, without extension.
	Name string
	// Width and Height are its size in pixels of the PNG.
	Width, Height int

	draw func(canvas)
}

func (f *Figure) drawOn(c vg.CanvasSizer) {
	cv := canvas{c: draw.New(c), height: float64(f.Height)}
	cv.rect(0, 0, float64(f.Width), float64(f.Height), white)
	f.draw(cv)
}
