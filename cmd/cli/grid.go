package cli

import "strings"

// cell is one text of a grid.
type cell struct {
	text string
	look look
}

// column is one column of a grid: a heading and a cell in each row. The headings of
// all columns of a grid have the same number of lines.
type column struct {
	head  []string
	cells []cell
	left  bool // aligned to the left, for text; numbers are aligned to the right
}

func (c *column) add(text string, l look) { c.cells = append(c.cells, cell{text, l}) }

func (c *column) width() int {
	w := 0
	for _, h := range c.head {
		w = max(w, columns(h))
	}
	for _, x := range c.cells {
		w = max(w, columns(x.text))
	}
	return w
}

// gap is the space between two columns.
const gap = 2

// gridWidth is the width of a line of all columns, with the gaps between them.
func gridWidth(cols []*column) int {
	w := gap * (len(cols) - 1)
	for _, c := range cols {
		w += c.width()
	}
	return w
}

// drawGrid appends the headings, a rule under them, and the rows. No line ends
// in a space.
func drawGrid(b *strings.Builder, p palette, cols []*column) {
	width := make([]int, len(cols))
	for i, c := range cols {
		width[i] = c.width()
	}
	for line := range cols[0].head {
		var l gridLine
		for i, c := range cols {
			l.put(p, cell{text: c.head[line]}, c.left, width[i])
		}
		l.end(b)
	}
	if len(cols[0].head) > 0 {
		b.WriteString(p.paint(faint, strings.Repeat("─", gridWidth(cols))))
		b.WriteByte('\n')
	}
	for row := range cols[0].cells {
		var l gridLine
		for i, c := range cols {
			l.put(p, c.cells[row], c.left, width[i])
		}
		l.end(b)
	}
}

// gridLine is a line that is being built.
type gridLine struct {
	text    strings.Builder
	pending int // spaces to write before the next text
}

func (l *gridLine) put(p palette, x cell, left bool, width int) {
	lead := 0
	if !left {
		lead = width - columns(x.text)
	}
	text := strings.TrimRight(x.text, " ")
	if text == "" {
		l.pending += width + gap
		return
	}
	l.text.WriteString(strings.Repeat(" ", l.pending+lead))
	l.text.WriteString(p.paint(x.look, text))
	l.pending = width - lead - columns(text) + gap
}

func (l *gridLine) end(b *strings.Builder) {
	b.WriteString(l.text.String())
	b.WriteByte('\n')
}
