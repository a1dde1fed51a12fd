package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"herdlab/sim/metrics/format"
)

// pageWidth is the width of all output in columns. It does not depend on the terminal,
// because output is piped, pasted and compared.
const pageWidth = 80

// wrap breaks text into lines of at most width columns; lines after the first
// are indented. A word that is longer than a line is not broken: it is a path to be
// copied.
func wrap(text string, width, indent int) string {
	var b strings.Builder
	at := 0
	for i, word := range format.Words(text) {
		n := columns(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteByte('\n')
			b.WriteString(strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// wrapLines wraps the lines of text that are longer than pageWidth.
func wrapLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if columns(line) > pageWidth {
			lines[i] = wrap(line, pageWidth, 2)
		}
	}
	return strings.Join(lines, "\n")
}

// columns is the width of s in columns. Names and units have narrow runes only.
func columns(s string) int { return utf8.RuneCountInString(s) }

// clip shortens s to width columns, with an ellipsis at the end.
func clip(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	return string([]rune(s)[:width-1]) + "…"
}

// printable replaces control characters by spaces, because a title from a file must
// not control the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
