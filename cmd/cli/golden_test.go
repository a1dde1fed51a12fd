package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares text with testdata/name, and checks that it is a page.
func golden(t *testing.T, name, text string) {
	t.Helper()
	isPage(t, text)
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test -update writes the golden files")
	assert.Equal(t, string(want), text)
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// isPage asserts the laws of every page: lines of at most 80 columns, no
// space at their ends, nothing but printable runes, and a last newline.
func isPage(t *testing.T, text string) {
	t.Helper()
	text = escapes.ReplaceAllString(text, "")
	assert.True(t, strings.HasSuffix(text, "\n"), "the last line ends")
	assert.True(t, utf8.ValidString(text))
	for i, line := range strings.Split(text, "\n") {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), pageWidth, "line %d is too long: %s", i+1, line)
		assert.Equal(t, strings.TrimRight(line, " "), line, "line %d ends in a space", i+1)
		assert.Equal(t, printable(line), line, "line %d", i+1)
	}
}
