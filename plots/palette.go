package plots

import (
	"image"
	"image/color"
	"image/draw"
)

// indexed returns the image in at most 256 colours. A figure has fewer, but for
// the edges of its letters, where nobody sees that a colour is not quite the
// same; the file is half as large for it.
func indexed(img image.Image) *image.Paletted {
	src, ok := img.(*image.RGBA)
	if !ok {
		src = image.NewRGBA(img.Bounds())
		draw.Draw(src, src.Bounds(), img, img.Bounds().Min, draw.Src)
	}
	var dyes []dye // in the order in which they appear
	known := map[color.RGBA]int{}
	of := make([]int, len(src.Pix)/4) // the dye of each pixel
	for i := range of {
		c := color.RGBA{src.Pix[4*i], src.Pix[4*i+1], src.Pix[4*i+2], src.Pix[4*i+3]}
		if i > 0 && c == dyes[of[i-1]].colour { // as most pixels are
			of[i] = of[i-1]
		} else if k, ok := known[c]; ok {
			of[i] = k
		} else {
			of[i], known[c] = len(dyes), len(dyes)
			dyes = append(dyes, dye{colour: c, off: 1 << 20})
		}
		dyes[of[i]].pixels++
	}
	out := image.NewPaletted(src.Bounds(), choose(dyes))
	for i, k := range of {
		out.Pix[i] = dyes[k].index
	}
	return out
}

// dye is a colour of an image, what stands in for it in the palette, and how
// far the two are apart.
type dye struct {
	colour color.RGBA
	pixels int
	index  uint8
	off    int
}

// choose makes a palette: one after the other, the colour whose pixels are
// worst off with those chosen before.
func choose(dyes []dye) color.Palette {
	var chosen color.Palette
	for len(chosen) < 256 {
		worst := 0
		for k := range dyes {
			if dyes[k].off*dyes[k].pixels > dyes[worst].off*dyes[worst].pixels {
				worst = k
			}
		}
		c := dyes[worst].colour
		if dyes[worst].off == 0 {
			break
		}
		for k := range dyes {
			if off := apart(dyes[k].colour, c); off < dyes[k].off {
				dyes[k].off, dyes[k].index = off, uint8(len(chosen))
			}
		}
		chosen = append(chosen, c)
	}
	return chosen
}

// apart is the squared distance of two opaque colours.
func apart(a, b color.RGBA) int {
	square := func(x, y uint8) int { return (int(x) - int(y)) * (int(x) - int(y)) }
	return square(a.R, b.R) + square(a.G, b.G) + square(a.B, b.B)
}
