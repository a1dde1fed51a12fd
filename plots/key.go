package plots

// key explains a mark.
type key struct {
	mark mark
	text string
}

type mark int

const (
	paleArea mark = iota
	fullArea
	dashes
	stroke
	band
	triangle
	redTriangle
	milestone
)

// drawKeys explains the marks in one line, whose baseline is y.
func drawKeys(p pen, x, y float64, keys []key) {
	for _, k := range keys {
		const w = 22.0
		switch k.mark {
		case paleArea:
			p.rect(x, y-10, w, 12, pale(quiet))
		case fullArea:
			p.rect(x, y-10, w, 12, quiet)
		case dashes:
			p.hline(x, x+w, y-4, ink, 5, 3)
		case stroke:
			p.line([]point{{x, y - 4}, {x + w, y - 4}}, 1.5, arrival)
		case band:
			p.rect(x, y-10, w, 12, shade)
		case triangle:
			p.pointer(x+w/2, y, ink)
		case redTriangle:
			p.pointer(x+w/2, y, alarm)
		case milestone:
			p.vline(x+w/2, y-9, y+3, praise, 2, 2)
			p.pointer(x+w/2+0.5, y-2, praise)
		}
		p.text(x+w+6, y, small, ink, 0, k.text)
		x += w + 6 + small.width(k.text) + 22
	}
}
