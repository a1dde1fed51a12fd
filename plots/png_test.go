package plots

import (
	"bytes"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
)

// columnsOf draws a text from x = 10 on and returns the first and the last column
// of pixels that are not white.
func columnsOf(t *testing.T, face typeface, text string) (first, last int) {
	t.Helper()
	f := &Figure{Width: 400, Height: 40, draw: func(cv canvas) { cv.text(10, 30, face, black, 0, text) }}
	var b bytes.Buffer
	require.NoError(t, f.PNG(&b))
	img, err := png.Decode(&b)
	require.NoError(t, err)
	first = -1
	for x := range 400 {
		for y := range 40 {
			if r, _, _, _ := img.At(x, y).RGBA(); r < 0xc000 {
				if first < 0 {
					first = x
				}
				last = x
			}
		}
	}
	return first, last
}

// TestTextWidth: a text in a PNG is as wide as the layout assumes. The rasteriser
// alone would draw these texts a third too narrow.
func TestTextWidth(t *testing.T) {
	for _, face := range []typeface{small, title, headline} {
		for _, text := range []string{"AVAVAVAVAVAV", "1111111111", "A A A A A A A", "none kerned"} {
			first, last := columnsOf(t, face, text)
			require.InDelta(t, 10, first, 2, text)
			require.InDelta(t, 10+face.width(text), last+1, 2, "%s at %g", text, face.size)
		}
	}
}
