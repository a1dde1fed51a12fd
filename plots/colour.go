package plots

import (
	"hash/fnv"
	"image/color"
)

// The colours of everything but the strategies.
var (
	white       = color.RGBA{0xff, 0xff, 0xff, 0xff}
	black       = color.RGBA{0x1d, 0x23, 0x2a, 0xff}
	grey        = color.RGBA{0x5a, 0x63, 0x6d, 0xff}
	axisColour  = color.RGBA{0xb4, 0xba, 0xc1, 0xff}
	gridColour  = color.RGBA{0xea, 0xec, 0xef, 0xff}
	faultColour = color.RGBA{0xe8, 0xeb, 0xee, 0xff}
	panelColour = color.RGBA{0xfa, 0xfb, 0xfb, 0xff}
	red         = color.RGBA{0xa6, 0x14, 0x14, 0xff}
	green       = color.RGBA{0x00, 0x5f, 0x45, 0xff}
	callsColour = color.RGBA{0x33, 0x3b, 0x44, 0xff}
	// translucent is white at 82 %, premultiplied as color.RGBA requires.
	translucent = color.RGBA{0xd1, 0xd1, 0xd1, 0xd1}
)

// colours has the colours of the built-in strategies. Each family of strategies
// has a hue of Okabe and Ito ("Color Universal Design", 2008), which can be told
// apart with any kind of colour vision; within a family the shade differs. No
// figure relies on the shade, because each strategy has its name beside it.
var colours = []struct {
	strategy string
	colour   color.RGBA
}{
	{"naive", color.RGBA{0xd5, 0x5e, 0x00, 0xff}},

	{"fixed-30s", color.RGBA{0xe6, 0x9f, 0x00, 0xff}},
	{"fixed-30s+0.5s", color.RGBA{0xb9, 0x7a, 0x00, 0xff}},
	{"fixed-30s+30s", color.RGBA{0xee, 0xb8, 0x45, 0xff}},
	{"uniform-90-150s", color.RGBA{0x8f, 0x65, 0x10, 0xff}},

	{"exponential", color.RGBA{0xcc, 0x79, 0xa7, 0xff}},
	{"exponential+0.5s", color.RGBA{0xa8, 0x4a, 0x7f, 0xff}},
	{"five-tries", color.RGBA{0x7c, 0x2e, 0x5b, 0xff}},

	{"full-jitter", color.RGBA{0x00, 0x72, 0xb2, 0xff}},
	{"equal-jitter", color.RGBA{0x56, 0xb4, 0xe9, 0xff}},
	{"decorrelated-jitter", color.RGBA{0x2b, 0x4f, 0x8c, 0xff}},

	{"breaker+full-jitter", color.RGBA{0x00, 0x9e, 0x73, 0xff}},
	{"token-bucket", color.RGBA{0x00, 0x6b, 0x4d, 0xff}},
	{"worker-queue", color.RGBA{0x4c, 0xb8, 0x98, 0xff}},
	{"header-limit", color.RGBA{0x00, 0x82, 0x5f, 0xff}},

	{"aimd", color.RGBA{0x7a, 0x87, 0x1e, 0xff}},
	{"vegas", color.RGBA{0x9d, 0xa8, 0x3c, 0xff}},
	{"gradient2", color.RGBA{0xb5, 0xbd, 0x68, 0xff}},
	{"bbr", color.RGBA{0x5c, 0x66, 0x10, 0xff}},

	{"hedge-p95", color.RGBA{0x6a, 0x51, 0xa3, 0xff}},
	{"ladder-2-1-1", color.RGBA{0x9e, 0x8a, 0xc8, 0xff}},

	{"status-only", color.RGBA{0x59, 0x5f, 0x66, 0xff}},
}

// others are hues of Tol's muted scheme ("Colour Schemes", 2021) that the
// built-in strategies do not use.
var others = []color.RGBA{
	{0x88, 0x22, 0x55, 0xff}, {0x33, 0x22, 0x88, 0xff}, {0x99, 0x99, 0x33, 0xff},
	{0x44, 0xaa, 0x99, 0xff}, {0xcc, 0x66, 0x77, 0xff}, {0xaa, 0x44, 0x99, 0xff},
}

// Colour returns the colour of a strategy in every figure and HTML page. It
// depends only on the name. Each built-in strategy has a colour that no other
// strategy has.
func Colour(strategy string) color.RGBA {
	for _, c := range colours {
		if c.strategy == strategy {
			return c.colour
		}
	}
	h := fnv.New32a()
	h.Write([]byte(strategy))
	sum := h.Sum32()
	hue := others[sum%uint32(len(others))]
	const shades = 8
	return mix(hue, white, float64(sum>>16%shades)/shades*0.4)
}

// mix returns a mixed with the given share of b; both are opaque.
func mix(a, b color.RGBA, share float64) color.RGBA {
	m := func(x, y uint8) uint8 { return uint8(float64(x)*(1-share) + float64(y)*share + 0.5) }
	return color.RGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), 0xff}
}

// pale returns the lighter shade of c that is used for what happens before the
// end of the last fault.
func pale(c color.RGBA) color.RGBA { return mix(c, white, 0.52) }
