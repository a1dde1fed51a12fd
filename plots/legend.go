package plots

// legendEntry explains a mark.
type legendEntry struct {
	mark mark
	text string
}

// mark is a way of drawing.
type mark int

const (
	paleArea mark = iota
	fullArea
	dashedLine
	solidLine
	shadedArea
	blackTriangle
	redTriangle
	settledMark
)

// drawLegend draws the legend in one line; y is its baseline.
func drawLegend(cv canvas, x, y float64, entries []legendEntry) {
	for _, e := range entries {
		const w = 22.0
		switch e.mark {
		case paleArea:
			cv.rect(x, y-10, w, 12, pale(grey))
		case fullArea:
			cv.rect(x, y-10, w, 12, grey)
		case dashedLine:
			cv.hline(x, x+w, y-4, black, 5, 3)
		case solidLine:
			cv.line([]point{{x, y - 4}, {x + w, y - 4}}, 1.5, callsColour)
		case shadedArea:
			cv.rect(x, y-10, w, 12, faultColour)
		case blackTriangle:
			cv.triangle(x+w/2, y, black)
		case redTriangle:
			cv.triangle(x+w/2, y, red)
		case settledMark:
			cv.vline(x+w/2, y-9, y+3, green, 2, 2)
			cv.triangle(x+w/2+0.5, y-2, green)
		}
		cv.text(x+w+6, y, small, black, 0, e.text)
		x += w + 6 + small.width(e.text) + 22
	}
}
