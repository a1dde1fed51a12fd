package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"herdlab/sim/metrics/format"
)

// pageWidth is how many columns a page has, whatever terminal shows it: output
// that is piped, pasted and compared must not depend on a window.
const pageWidth = 80

// wrap breaks text into lines of at most width columns; lines after the first
// are indented. A word that is longer than a line stays whole: it is a path,
// and paths are copied.
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

// wrapLines wraps the lines of text that are longer than a page.
func wrapLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if columns(line) > pageWidth {
			lines[i] = wrap(line, pageWidth, 2)
		}
	}
	return strings.Join(lines, "\n")
}

// columns is how many columns s takes. Names and units are of narrow runes.
func columns(s string) int { return utf8.RuneCountInString(s) }

// clip shortens s to width columns and says so with an ellipsis.
func clip(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	return string([]rune(s)[:width-1]) + "…"
}

// printable is s without what could command a terminal: a title from a
// stranger's file is text and nothing else.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
