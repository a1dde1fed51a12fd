package plots

import (
	"image/png"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Figure is a drawn figure; that of a nil result is empty. Its unit of length is the pixel of its PNG.
type Figure struct {
	// Name is the name of its files, without extension.
	Name string
	// Width and Height are its size in pixels.
	Width, Height int

	draw func(pen)
}

// dpi makes a point of gonum/plot a pixel of the PNG, so that a font size of
// 12 is 12 pixels high.
const dpi = 72

// PNG writes the figure as a PNG image of Width × Height pixels.
func (f *Figure) PNG(w io.Writer) error {
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(f.Width), vg.Length(f.Height)), vgimg.UseDPI(dpi))
	f.drawOn(c)
	// The flat colours of a figure compress well at any level; the best level
	// takes longer than the drawing.
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, c.Image())
}

func (f *Figure) drawOn(c vg.CanvasSizer) {
	p := pen{c: draw.New(c), height: float64(f.Height)}
	p.rect(0, 0, float64(f.Width), float64(f.Height), paper)
	f.draw(p)
}
