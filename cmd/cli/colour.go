package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// look is how a piece of text stands out. It only repeats what a mark or a
// word says already: without colour nothing is lost.
type look uint8

const (
	plain look = iota
	strong
	faint
	good
	bad
)

// sgr are the escape sequences of the looks.
var sgr = [...]string{plain: "", strong: "\x1b[1m", faint: "\x1b[2m", good: "\x1b[1;32m", bad: "\x1b[31m"}

// palette paints, or does not.
type palette bool

func (p palette) paint(l look, s string) string {
	if !bool(p) || l == plain || s == "" {
		return s
	}
	return sgr[l] + s + "\x1b[0m"
}

// paletteFor decides whether to paint on w: the --color option goes first,
// then NO_COLOR (https://no-color.org) and TERM=dumb, then whether anybody
// looks.
func paletteFor(option string, w io.Writer, env func(string) string) (palette, error) {
	switch option {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto":
		return palette(env("NO_COLOR") == "" && env("TERM") != "dumb" && isTerminal(w)), nil
	}
	return false, fmt.Errorf("--color is %q; it must be auto, always or never", option)
}

// isTerminal reports whether somebody looks at w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
