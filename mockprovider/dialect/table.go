package dialect

import (
	"fmt"
	"strconv"
	"strings"

	"herdlab/mockprovider/wire"
)

// Table returns one line for each class: the status, the codes, the class that
// it reads as if that is another, the form of hints, and the text.
func (d *Dialect) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n", d.Title, d.Name)
	for class := wire.Rate; class <= wire.Timeout; class++ {
		p := &d.templates[class]
		said := p.Kind
		if p.Code != "" {
			said = strings.TrimPrefix(said+" / "+p.Code, " / ")
		}
		if p.Number != 0 {
			said = strconv.Itoa(int(p.Number))
		}
		if p.As != wire.OK {
			said += " = " + p.As.String()
		}
		fmt.Fprintf(&b, "  %-12s  %d  %-68s hint: %-13s  %s\n", class, p.Status, said, spellingNames[p.Spelled], p.Text)
	}
	return b.String()
}

// spellingNames are the names of the forms of hints.
var spellingNames = [wire.NumSpellings]string{
	"header", "header s", "header ms", "header date", "header time", "header epoch", "header duration",
	"body s", "body ms", "body duration", "sentence", "header s + text", "none",
}

// Summary returns a Markdown table of all dialects and classes: the status, the
// business code if programs read it, and, after =, the class that it reads as
// if the provider has no form of its own for the class.
func Summary() string {
	var b strings.Builder
	b.WriteString("| dialect |")
	for class := wire.Rate; class <= wire.Timeout; class++ {
		fmt.Fprintf(&b, " %s |", class)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", int(wire.Timeout)) + "\n")
	for i := range dialects {
		d := &dialects[i]
		fmt.Fprintf(&b, "| %s |", d.Name)
		for class := wire.Rate; class <= wire.Timeout; class++ {
			p := &d.templates[class]
			fmt.Fprintf(&b, " %d", p.Status)
			if p.Number != 0 {
				fmt.Fprintf(&b, " `%d`", p.Number)
			}
			if p.As != wire.OK {
				fmt.Fprintf(&b, " = %s", p.As)
			}
			b.WriteString(" |")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
