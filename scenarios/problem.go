package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Problem is one thing that is wrong with a scenario file.
type Problem struct {
	File string
	// Line and Column say where, counted from 1 in characters; Line is 0 if
	// the problem is the file as a whole.
	Line, Column int
	// Message says what is wrong and what was expected.
	Message string
	// Source is the offending line.
	Source string
	// Suggestion is what was probably meant, empty if nothing comes close.
	Suggestion string
}

// sourceWidth is how many characters of a long line are shown.
const sourceWidth = 100

// Error says the problem as file:line:column: message, with the offending line
// and a caret below it.
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

// excerpt returns the part of the line around the column, fit for a terminal,
// and how many characters stand before the caret.
func (p *Problem) excerpt() (text string, caret int) {
	line := []rune(strings.ToValidUTF8(p.Source, "\ufffd"))
	for i, r := range line {
		switch {
		case r == '\t':
			line[i] = ' ' // one character wide, so that the caret is right
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

// Problems is everything that is wrong with a scenario file, in the order of
// its lines. It is the error that Parse and Load return for an invalid file;
// errors.As finds it.
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
