package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestTightPercent(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{0: "0%", 0.001: "<1%", 0.25: "25%", 0.999: ">99%", 1: "100%"} {
		assert.Equal(t, want, tightPercent(share))
	}
}

func TestPlusMinus(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		mean, half float64
		want       string
	}{
		{921.92, 0.44, "921.9 ± 0.4"}, {604.016, 0.17, "604.0 ± 0.2"}, {20.66, 0.17, "20.66 ± 0.17"}, {2.5651, 0.0001, "2.565 ± <0.001"}, {0, 0.25, "0.00 ± 0.25"}, {370860.4, 0.2, "370,860 ± <1"}, {1055.2, 9.3, "1,055 ± 9"}, {1055.2, 23.4, "1,055 ± 23"},
		{1086, 0, "1,086 ± 0"}, {4.265, 1.5, "4.3 ± 1.5"}, {0.1882, 0.0003, "0.1882 ± 0.0003"}, {-3.21, 0.5, "−3.2 ± 0.5"}, {176058, 834, "176,100 ± 800"}, {3786681, 14932, "3,787,000 ± 15,000"}, {1086, 1833, "1,100 ± 1,800"},
	} {
		assert.Equal(t, x.want, plusMinus(x.mean, x.half))
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "", wrap("", 10, 0))
	assert.Equal(t, "a bb\nccc", wrap("a  bb ccc", 5, 0))
	assert.Equal(t, "a bb\n  ccc", wrap("a bb ccc", 5, 2))
	assert.Equal(t, "a\nmuch-too-long\nb", wrap("a much-too-long b", 5, 0))
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zé–]{1,12}`)).Draw(rt, "words")
		text := strings.Join(words, " ")
		width := rapid.IntRange(12, 80).Draw(rt, "width")
		wrapped := wrap(text, width, 0)
		if strings.Join(strings.Fields(wrapped), " ") != text {
			rt.Fatal("words are lost")
		}
		lines := strings.Split(wrapped, "\n")
		for i, line := range lines {
			n := utf8.RuneCountInString(line)
			if n > width {
				rt.Fatalf("%q is longer than %d", line, width)
			}
			if i+1 < len(lines) { // the next word does not fit
				if first := utf8.RuneCountInString(strings.Fields(lines[i+1])[0]); n+1+first <= width {
					rt.Fatalf("%q has room for %q", line, lines[i+1])
				}
			}
		}
	})
}

// Messages are wrapped line by line; a line that fits is not changed.
func TestWrapLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 20) + "end"
	assert.Equal(t, "a  b\n"+wrap(long, pageWidth, 2)+"\nc", wrapLines("a  b\n"+long+"\nc"))
	for line := range strings.Lines(wrapLines(long)) {
		assert.LessOrEqual(t, columns(strings.TrimSuffix(line, "\n")), pageWidth)
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "naïve", clip("naïve", 5))
	assert.Equal(t, "naï…", clip("naïve", 4))
	assert.Equal(t, "", clip("naïve", 0))
}
