package plots

import (
	"image"
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestIndexed: an image of at most 256 colours is unchanged. With more colours,
// those of large areas are exact and the others are near.
func TestIndexed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) color.RGBA {
			v := rapid.Uint32().Draw(t, "colour")
			return color.RGBA{uint8(v), uint8(v >> 8), uint8(v >> 16), 0xff}
		}), 1, 256).Draw(t, "colours")
		img := image.NewRGBA(image.Rect(0, 0, 32, 20))
		for i := range 32 * 20 {
			img.SetRGBA(i%32, i/32, few[i%len(few)])
		}
		out := indexed(img)
		for i := range 32 * 20 {
			require.Equal(t, few[i%len(few)], out.At(i%32, i/32))
		}
	})

	img := image.NewRGBA(image.Rect(0, 0, 1000, 8))
	for x := range 1000 {
		for y := range 8 {
			c := red // an area
			if y == 0 {
				c = color.RGBA{uint8(x % 256), uint8(x / 4), uint8(x * 7), 0xff} // a thousand colours
			}
			img.SetRGBA(x, y, c)
		}
	}
	out := indexed(img)
	require.Len(t, out.Palette, 256)
	require.Equal(t, red, out.At(500, 4))
	for x := range 1000 {
		c := color.RGBAModel.Convert(out.At(x, 0)).(color.RGBA)
		require.Equal(t, out.Palette.Index(img.At(x, 0)), int(out.ColorIndexAt(x, 0)), "the nearest")
		require.LessOrEqual(t, distance(c, img.RGBAAt(x, 0)), 3*40*40)
	}
}
