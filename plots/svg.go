package plots

import (
	"bytes"
	"io"
	"strconv"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// svgCanvas records the width of each text.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []float64
}

// FillString implements vg.Canvas.
func (c *svgCanvas) FillString(f font.Face, at vg.Point, s string) {
	c.widths = append(c.widths, f.Width(s).Points())
	c.Canvas.FillString(f, at, s)
}

// SVG writes the figure as an SVG document. Texts are text elements in Liberation
// Sans, or in a font that the viewer substitutes and scales to the same width so
// that texts do not overlap.
func (f *Figure) SVG(w io.Writer) error {
	c := &svgCanvas{Canvas: vgsvg.New(vg.Length(f.Width), vg.Length(f.Height))}
	f.drawOn(c)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(c.fixWidths(b.Bytes()))
	return err
}

// fixWidths adds to each text of the document its width, and to its typeface the
// fonts that may replace it.
func (c *svgCanvas) fixWidths(doc []byte) []byte {
	// Text is escaped, so these strings occur only as tags and styles.
	const tag, family = "<text ", "font-family:Liberation Sans;"
	doc = bytes.ReplaceAll(doc, []byte(family), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	out := make([]byte, 0, len(doc)+len(c.widths)*60)
	for i := 0; ; i++ {
		before, after, found := bytes.Cut(doc, []byte(tag))
		out = append(out, before...)
		if !found || i == len(c.widths) {
			return append(out, doc[len(before):]...)
		}
		out = append(out, tag+`textLength="`...)
		out = strconv.AppendFloat(out, c.widths[i], 'f', 1, 64)
		out = append(out, `" lengthAdjust="spacingAndGlyphs" `...)
		doc = after
	}
}
