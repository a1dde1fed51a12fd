package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPaletteFor(t *testing.T) {
	t.Parallel()
	var pipe strings.Builder
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil || !isTerminal(terminal) {
		t.Skip("no pseudo-terminals here")
	}
	defer func() { require.NoError(t, terminal.Close()) }()
	for _, x := range []struct {
		option        string
		w             io.Writer
		noColor, term string
		want          palette
	}{
		{"auto", terminal, "", "xterm", true},
		{"auto", terminal, "1", "xterm", false},
		{"auto", terminal, "", "dumb", false},
		{"auto", &pipe, "", "xterm", false},
		{"never", terminal, "", "xterm", false},
		{"always", &pipe, "1", "dumb", true}, // the option goes first
	} {
		env := func(name string) string { return map[string]string{"NO_COLOR": x.noColor, "TERM": x.term}[name] }
		got, err := paletteFor(x.option, x.w, env)
		require.NoError(t, err)
		assert.Equal(t, x.want, got, "%+v", x)
	}
}

func TestPaint(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "x", palette(false).paint(good, "x"))
	assert.Equal(t, "x", palette(true).paint(plain, "x"))
	assert.Equal(t, "", palette(true).paint(good, ""))
	assert.Equal(t, "\x1b[2mx\x1b[0m", palette(true).paint(faint, "x"))
}
