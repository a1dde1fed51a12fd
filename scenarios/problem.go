package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Problem is an error in a scenario file.
type Problem struct {
	File string
	// Line and Column are counted from 1, columns in characters. Line is 0 if
	// the problem concerns the whole file.
	Line, Column int
	// Message states the error and what is expected.
	Message string
	// Source is the offending line.
	Source string
	// Suggestion is a similar valid name, empty if there is none.
	Suggestion string
}

// sourceWidth is the number of characters of a long line that are shown.
const sourceWidth = 100

// Error returns file:line:column: message, followed by the offending line and a
// caret below the column.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	b.WriteString(p.Message)
	if p.Suggestion != "" {
		fmt.Fprintf(&b, "; did you mean %q?", p.Suggestion)
	}
	if p.Line > 0 {
		text, caret := p.excerpt()
		fmt.Fprintf(&b, "\n%5d | %s\n      | %s^", p.Line, text, strings.Repeat(" ", caret))
	}
	return b.String()
}

// excerpt returns the part of the line around the column, without control
// characters, and the number of characters before the caret.
func (p *Problem) excerpt() (text string, caret int) {
	line := []rune(strings.ToValidUTF8(p.Source, "\ufffd"))
	for i, r := range line {
		switch {
		case r == '\t':
			line[i] = ' ' // one character wide, so that the caret is in the right column
		case !unicode.IsPrint(r):
			line[i] = '\ufffd'
		}
	}
	caret = min(max(p.Column-1, 0), len(line))
	from := 0
	if len(line) > sourceWidth {
		from = min(max(caret-sourceWidth/2, 0), len(line)-sourceWidth)
		line = line[from : from+sourceWidth]
	}
	return string(line), caret - from
}

// Problems are all errors in a scenario file, in the order of its lines. Parse and
// Load return it for an invalid file; errors.As finds it.
type Problems []Problem

// Error lists the problems.
func (p Problems) Error() string {
	s := make([]string, len(p))
	for i := range p {
		s[i] = p[i].Error()
	}
	return strings.Join(s, "\n")
}

func (p Problems) sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
