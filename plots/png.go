package plots

import (
	"image/png"
	"io"

	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// dpi is the resolution at which a point of gonum/plot is a pixel of the PNG, so
// that a font of size 12 is 12 pixels high.
const dpi = 72

// PNG writes the figure as a PNG image of Width × Height pixels.
func (f *Figure) PNG(w io.Writer) error {
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(f.Width), vg.Length(f.Height)), vgimg.UseDPI(dpi))
	f.drawOn(pngCanvas{c})
	return png.Encode(w, indexed(c.Image()))
}

// pngCanvas places the letters of a text at the widths of its typeface. The
// rasteriser kerns letters of any size as if they were 32 pixels high, so that
// the space before "A" disappears and the digits of "11" touch.
type pngCanvas struct{ *vgimg.Canvas }

// FillString implements vg.Canvas.
func (c pngCanvas) FillString(f font.Face, at vg.Point, s string) {
	// Consecutive letters without kerning are drawn together.
	var buf sfnt.Buffer
	var last sfnt.GlyphIndex
	start := 0
	for i, r := range s {
		glyph, err := f.Face.GlyphIndex(&buf, r)
		if err != nil {
			glyph = 0
		}
		if i > 0 {
			kern, err := f.Face.Kern(&buf, last, glyph, fixed.Int26_6(f.Face.UnitsPerEm()), stdfont.HintingNone)
			if err == nil && kern != 0 {
				c.fill(f, at, s, start, i)
				start = i
			}
		}
		last = glyph
	}
	c.fill(f, at, s, start, len(s))
}

// fill draws s[from:to] at its place in s.
func (c pngCanvas) fill(f font.Face, at vg.Point, s string, from, to int) {
	at.X += f.Width(s[:to]) - f.Width(s[from:to])
	c.Canvas.FillString(f, at, s[from:to])
}
