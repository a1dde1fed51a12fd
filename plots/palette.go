package plots

import (
	"image"
	"image/color"
	"image/draw"
)

// indexed returns the image in at most 256 colours, which halves the size of the
// file. A figure has more colours only at the edges of letters, where a small
// difference is invisible.
func indexed(img image.Image) *image.Paletted {
	src, ok := img.(*image.RGBA)
	if !ok {
		src = image.NewRGBA(img.Bounds())
		draw.Draw(src, src.Bounds(), img, img.Bounds().Min, draw.Src)
	}
	var entries []entry // in the order in which they appear
	known := map[color.RGBA]int{}
	of := make([]int, len(src.Pix)/4) // the entry of each pixel
	for i := range of {
		c := color.RGBA{src.Pix[4*i], src.Pix[4*i+1], src.Pix[4*i+2], src.Pix[4*i+3]}
		if i > 0 && c == entries[of[i-1]].colour { // the usual case
			of[i] = of[i-1]
		} else if k, ok := known[c]; ok {
			of[i] = k
		} else {
			of[i], known[c] = len(entries), len(entries)
			entries = append(entries, entry{colour: c, distance: 1 << 20})
		}
		entries[of[i]].pixels++
	}
	out := image.NewPaletted(src.Bounds(), choose(entries))
	for i, k := range of {
		out.Pix[i] = entries[k].index
	}
	return out
}

// entry is a colour of an image, its number of pixels, the index of its nearest
// colour in the palette, and the distance to that colour.
type entry struct {
	colour   color.RGBA
	pixels   int
	index    uint8
	distance int
}

// choose returns a palette. It adds, one at a time, the colour with the largest
// product of pixels and distance to the palette so far.
func choose(entries []entry) color.Palette {
	var chosen color.Palette
	for len(chosen) < 256 {
		worst := 0
		for k := range entries {
			if entries[k].distance*entries[k].pixels > entries[worst].distance*entries[worst].pixels {
				worst = k
			}
		}
		c := entries[worst].colour
		if entries[worst].distance == 0 {
			break
		}
		for k := range entries {
			if d := distance(entries[k].colour, c); d < entries[k].distance {
				entries[k].distance, entries[k].index = d, uint8(len(chosen))
			}
		}
		chosen = append(chosen, c)
	}
	return chosen
}

// distance returns the squared distance of two opaque colours.
func distance(a, b color.RGBA) int {
	square := func(x, y uint8) int { return (int(x) - int(y)) * (int(x) - int(y)) }
	return square(a.R, b.R) + square(a.G, b.G) + square(a.B, b.B)
}
