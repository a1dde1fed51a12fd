package plots

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figure is a drawn figure; that of a nil result is empty. Its unit of length
// is the pixel of its PNG.
type Figure struct {
	// Name is the name of its files, without extension.
	Name string
	// Width and Height are its size in pixels.
	Width, Height int

	draw func(pen)
}

func (f *Figure) drawOn(c vg.CanvasSizer) {
	p := pen{c: draw.New(c), height: float64(f.Height)}
	p.rect(0, 0, float64(f.Width), float64(f.Height), paper)
	f.draw(p)
}
