package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// home is the module's directory, relative to this one.
const home = "../.."

// readme is README.md under test.
type readme struct {
	t    *testing.T
	path string
	text string
}

func openReadme(t *testing.T) *readme {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(home, "README.md"))
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return &readme{t, path, string(text)}
}

// block is the content of the first fenced block that begins with fence after
// the given words: text[from:to].
func (r *readme) block(after, fence string) (from, to int) {
	r.t.Helper()
	i := strings.Index(r.text, after)
	require.GreaterOrEqual(r.t, i, 0, "README.md has no %q", after)
	open := strings.Index(r.text[i:], "\n"+fence+"\n")
	require.GreaterOrEqual(r.t, open, 0, "no block %s follows %q", fence, after)
	from = i + open + len(fence) + 2
	length := strings.Index(r.text[from:], "\n```\n")
	require.GreaterOrEqual(r.t, length, 0, "the block after %q does not end", after)
	return from, from + length + 1
}

// holds asserts that the block is text, or writes it with -update.
func (r *readme) holds(after, fence, text string) {
	r.t.Helper()
	from, to := r.block(after, fence)
	if *update {
		r.text = r.text[:from] + text + r.text[to:]
		require.NoError(r.t, os.WriteFile(r.path, []byte(r.text), 0o644))
		return
	}
	assert.Equal(r.t, text, r.text[from:to], "go test ./cmd/cli -run Readme -update writes it")
}

// The table and the picture of the reference experiment in the README are the output of
// the command above them.
func TestReadmeShowsTheReferenceExperiment(t *testing.T) {
	r := openReadme(t)
	picture := filepath.Join(filepath.Dir(r.path), "plots", "second-peak.png")
	inEmptyDir(t)
	got := herdlab("compare")
	require.Equal(t, exitOK, got.code, got.err)
	shown, _, found := strings.Cut(got.out, "\nPictures:\n")
	require.True(t, found)
	r.holds("![", "```", shown)

	drawn, err := os.ReadFile(filepath.Join("herdlab-out", "second-peak", "attempts.png"))
	require.NoError(t, err)
	assert.Less(t, len(drawn), 250_000, "a page with it loads at once")
	if *update {
		require.NoError(t, os.WriteFile(picture, drawn, 0o644))
	}
	kept, err := os.ReadFile(picture)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(drawn, kept), "%s is not what is drawn; look at it, then go test ./cmd/cli -run Readme -update", picture)
}

func TestReadmeShowsTestedCode(t *testing.T) {
	r := openReadme(t)
	for _, b := range []struct{ after, fence, file, from, to string }{
		{"## A strategy of your own", "```go", "cmd/example/spread.go", "// After implements", "\n}\n"},
		{"Or as ordinary code", "```go", "cmd/example/patience.go", "func patience", "\n}\n"},
		{"Or as a stack", "```yaml", "cmd/example/stack.yaml", "    stack:\n", ""},
		{"## The strategy that won", "```go", "strategies/live/example_test.go", "\ttransport := live.Must", "\n\t})\n"},
	} {
		code, err := os.ReadFile(filepath.Join(home, b.file))
		require.NoError(t, err)
		_, part, found := strings.Cut(string(code), b.from)
		require.True(t, found, "%s has no %s", b.file, b.from)
		if b.to != "" {
			part, _, found = strings.Cut(part, b.to)
			require.True(t, found)
			part += b.to
		}
		whole := strings.TrimPrefix(b.from+part, "\t")
		if strings.HasPrefix(b.from, "\t") { // a piece of a function
			whole = strings.ReplaceAll(whole, "\n\t", "\n")
		}
		r.holds(b.after, b.fence, whole)
	}
}

var (
	links = regexp.MustCompile(`\]\(([^)#]+)\)`)
	// paths are words in lower case with a slash between them: M/M/c is not a path.
	paths = regexp.MustCompile(`(?:^|[\s(\x60])(?:\./)?(\.?[a-z][\w.-]*(?:/[a-z][\w.-]*)+)`)
	files = regexp.MustCompile("`([a-z_]+\\.(?:go|md))`")
)

// Every file and folder that the README names exists.
func TestReadmeNamesExistingFiles(t *testing.T) {
	text := openReadme(t).text
	assert.Less(t, strings.Count(text, "\n"), 250, "it is short")
	named := map[string]bool{}
	for _, pattern := range []*regexp.Regexp{links, paths, files} {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			if name := strings.TrimRight(m[1], ".,:;"); !strings.Contains(name, "://") && !strings.HasPrefix(name, "herdlab-out/") {
				named[name] = true
			}
		}
	}
	for _, some := range []string{"plots/second-peak.png", "cmd/herdlab", "sim/des", "strategies/presets/builtin.go", "bench_test.go", ".ci/run"} {
		assert.True(t, named[some], "the README no longer names %s, or it is not found", some)
	}
	for name := range named {
		_, err := os.Stat(filepath.Join(home, name))
		assert.NoError(t, err, "the README names %s", name)
	}
}
