package plots

import (
	"bytes"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// svgText is one text of a figure with the rectangle that it occupies.
type svgText struct {
	text                     string
	left, right, top, bottom float64
	size                     float64
}

// textsOf returns the texts of a figure in drawing order. It fails if the SVG is
// not well-formed.
func textsOf(t *testing.T, f *Figure) []svgText {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, f.SVG(&b))
	var texts []svgText
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		require.NoError(t, err)
		return v
	}
	in := false
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		}
		require.NoError(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			if in = e.Name.Local == "text"; !in {
				continue
			}
			var x svgText
			for _, a := range e.Attr {
				switch a.Name.Local {
				case "x":
					x.left += number(a.Value)
					x.right += number(a.Value)
				case "textLength":
					x.right += number(a.Value)
				case "y": // up from the lower edge, and negative
					x.bottom = float64(f.Height) + number(a.Value)
				case "style":
					_, size, _ := strings.Cut(a.Value, "font-size:")
					size, _, _ = strings.Cut(size, "px")
					x.size = number(size)
				}
			}
			// Letters rise about three quarters of their size above the baseline.
			x.top = x.bottom - 0.72*x.size
			texts = append(texts, x)
		case xml.CharData:
			if in {
				texts[len(texts)-1].text += string(e)
			}
		case xml.EndElement:
			in = false
		}
	}
}

// TestTextsDoNotOverlap: texts are inside the figure and do not overlap.
func TestTextsDoNotOverlap(t *testing.T) {
	for name, r := range shapes() {
		for _, f := range all(r) {
			texts := textsOf(t, f)
			require.NotEmpty(t, texts)
			for i, a := range texts {
				require.GreaterOrEqual(t, a.size, 12.0, "%s %s: %q is too small", name, f.Name, a.text)
				require.True(t, a.left >= 0 && a.right <= float64(f.Width) && a.top >= 0 && a.bottom+3 <= float64(f.Height),
					"%s %s: %q is outside the figure: %+v", name, f.Name, a.text, a)
				for _, b := range texts[:i] {
					apart := a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top
					require.True(t, apart, "%s %s: %q and %q overlap", name, f.Name, a.text, b.text)
				}
			}
		}
	}
}

// TestContinuationIsInItsRow: the note that attempts continue is beside the panel
// of its strategy and not in the row above.
func TestContinuationIsInItsRow(t *testing.T) {
	for _, f := range []*Figure{Attempts(reference()), Goodput(reference())} {
		texts := textsOf(t, f)
		notes := 0
		for _, note := range texts {
			if !strings.HasPrefix(note.text, "until ") {
				continue
			}
			notes++
			var name svgText
			for _, x := range texts { // the nearest name above the note
				if x.size == title.size && x.top < note.bottom && x.bottom > name.bottom {
					name = x
				}
			}
			require.Contains(t, name.text, "exponential", f.Name)
			require.Greater(t, note.top, name.bottom, "%s: below the height of the name", f.Name)
		}
		require.Equal(t, 2, notes, f.Name)
	}
}

// wellFormed fails unless doc is well-formed XML.
func wellFormed(t require.TestingT, doc []byte) {
	for d := xml.NewDecoder(bytes.NewReader(doc)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			require.NoError(t, err)
		}
	}
}
