package plots

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"full-jitter":           "full-jitter",
		"wait 1 … 64 s × n → ü": "wait 1 … 64 s × n → ü",
		" a\tb\nc ":             "a b c",
		"重试 storm":              "?? storm",
		"\x00\x1b[31m\xff":      "??[31m?",
		"<b>&\"'":               "<b>&\"'",
	} {
		require.Equal(t, want, clean(in), "%q", in)
	}
	require.LessOrEqual(t, utf8.RuneCountInString(clean(strings.Repeat("x", 1<<20))), maxText+1)
}

func TestFitAndWrap(t *testing.T) {
	require.Equal(t, "short", small.fit("short", 200))
	require.Equal(t, []string{"one two", "three"}, small.wrap("one two three", small.width("one two "), 3))
	rapid.Check(t, func(t *rapid.T) {
		s := clean(rapid.String().Draw(t, "s"))
		width := rapid.Float64Range(0, 300).Draw(t, "width")
		n := rapid.IntRange(1, 4).Draw(t, "n")
		cut := small.fit(s, width)
		require.LessOrEqual(t, small.width(cut), width)
		if cut != s && cut != "" {
			require.True(t, strings.HasSuffix(cut, "…"))
			require.True(t, strings.HasPrefix(s, strings.TrimSuffix(cut, "…")))
		}
		lines := small.wrap(s, width, n)
		require.LessOrEqual(t, len(lines), n)
		for _, line := range lines {
			require.LessOrEqual(t, small.width(line), width)
		}
		if small.width(s) <= width {
			require.Equal(t, strings.Join(strings.Fields(s), " "), strings.Join(lines, " "))
		}
	})
}
