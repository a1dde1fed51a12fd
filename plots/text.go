package plots

import (
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"

	"herdlab/sim/metrics/format"
)

// typeface is Liberation Sans at a size in pixels.
type typeface struct {
	size float64
	bold bool
}

// The typefaces of the figures. small is the smallest.
var (
	headline  = typeface{size: 22, bold: true}
	title     = typeface{size: 15, bold: true}
	boldBody  = typeface{size: 13, bold: true}
	boldLabel = typeface{size: 14, bold: true}
	body      = typeface{size: 13}
	small     = typeface{size: 12}
)

var fonts = sync.OnceValue(func() *font.Cache { return font.NewCache(liberation.Collection()) })

func (t typeface) face() font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if t.bold {
		f.Weight = stdfont.WeightBold
	}
	return fonts().Lookup(f, vg.Length(t.size))
}

// width returns the width of s in pixels.
func (t typeface) width(s string) float64 {
	f := t.face()
	return float64(f.Width(s))
}

// fit returns s, cut and with an ellipsis if it is wider than width.
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

// wrap breaks s into at most n lines that fit width. If s is longer, the last line
// ends in an ellipsis.
func (t typeface) wrap(s string, width float64, n int) []string {
	var lines []string
	line := ""
	words := format.Words(s)
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

// maxText bounds the texts of a result, in characters.
const maxText = 1000

// clean makes a text of a result safe to draw. It replaces white space by a space,
// and by a question mark characters without a glyph, which a PNG would not show,
// and control characters, which make an SVG malformed.
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
