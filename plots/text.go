package plots

import (
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"

	"herdlab/sim/metrics"

	stdfont "golang.org/x/image/font"
)

// typeface is Liberation Sans at a size in pixels.
type typeface struct {
	size float64
	bold bool
}

// The sizes of the figures. Nothing is smaller than small.
var (
	headline = typeface{size: 22, bold: true}
	title    = typeface{size: 15, bold: true}
	strong   = typeface{size: 13, bold: true}
	loud     = typeface{size: 14, bold: true}
	body     = typeface{size: 13}
	small    = typeface{size: 12}
)

var fonts = sync.OnceValue(func() *font.Cache { return font.NewCache(liberation.Collection()) })

func (t typeface) face() font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if t.bold {
		f.Weight = stdfont.WeightBold
	}
	return fonts().Lookup(f, vg.Length(t.size))
}

// width is how wide s is, in pixels.
func (t typeface) width(s string) float64 {
	f := t.face()
	return float64(f.Width(s))
}

// fit returns s, or as much of its beginning as fits width with an ellipsis.
func (t typeface) fit(s string, width float64) string {
	if t.width(s) <= width {
		return s
	}
	runes := []rune(s)
	cut := func(n int) string { return strings.TrimRight(string(runes[:n]), " ") + "…" }
	n := sort.Search(len(runes), func(n int) bool { return t.width(cut(n)) > width })
	if n == 0 {
		return ""
	}
	return cut(n - 1)
}

// wrap breaks s into at most n lines that fit width; what is left over ends in
// an ellipsis.
func (t typeface) wrap(s string, width float64, n int) []string {
	var lines []string
	line := ""
	words := metrics.Words(s)
	for i, word := range words {
		if next := strings.TrimLeft(line+" "+word, " "); line == "" || t.width(next) <= width {
			line = next
			continue
		}
		if len(lines) == n-1 {
			return append(lines, t.fit(line+" "+strings.Join(words[i:], " "), width))
		}
		lines = append(lines, t.fit(line, width))
		line = word
	}
	if line != "" {
		lines = append(lines, t.fit(line, width))
	}
	return lines
}

// maxText bounds, in characters, what a result can make a figure measure.
const maxText = 1000

// clean makes text of a result safe to draw: a character without a glyph would
// vanish from the PNG, and a control character makes an SVG ill-formed. Both
// become a question mark; white space becomes a space.
func clean(s string) string {
	var b strings.Builder
	var buf sfnt.Buffer
	f := body.face()
	n := 0
	for _, r := range s {
		if n++; n > maxText {
			b.WriteRune('…')
			break
		}
		switch g, err := f.Face.GlyphIndex(&buf, r); {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case r == utf8.RuneError || !unicode.IsPrint(r) || err != nil || g == 0:
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}
