package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// look is the emphasis of a text. It only repeats the information of a mark or a word,
// so nothing is lost without colour.
type look uint8

const (
	plain look = iota
	strong
	faint
	good
	bad
)

// sgr are the escape sequences (select graphic rendition) of the looks.
var sgr = [...]string{plain: "", strong: "\x1b[1m", faint: "\x1b[2m", good: "\x1b[1;32m", bad: "\x1b[31m"}

// palette colours text if it is true.
type palette bool

func (p palette) paint(l look, s string) string {
	if !bool(p) || l == plain || s == "" {
		return s
	}
	return sgr[l] + s + "\x1b[0m"
}

// paletteFor decides whether to colour the output on w: by the option --color, then by
// NO_COLOR (https://no-color.org) and TERM=dumb, then by whether w is a terminal.
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

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
