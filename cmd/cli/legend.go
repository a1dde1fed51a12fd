package cli

import (
	"fmt"
	"strings"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
)

// drawLegend appends what the marks and the sparklines mean, and which seed's
// the latter are unless that is said.
func drawLegend(b *strings.Builder, p palette, r *metrics.Result, s *sparks, seedSaid bool) {
	var parts []string
	if v := r.Verdict; v != nil {
		if v.Winner != "" {
			parts = append(parts, winnerMark+"winner")
		}
		if len(v.Disqualified) > 0 {
			parts = append(parts, disqualifiedMark+"disqualified")
		}
	}
	if s.top > 0 {
		scale := "log"
		if !seedSaid {
			scale += ", " + seedOf(r)
		}
		parts = append(parts, fmt.Sprintf("%c 1 … %c %s in the busiest %s (%s)",
			levels[0], levels[len(levels)-1], format.Number(float64(s.top)), binWidth(r.Scenario.Bin), scale))
	}
	if s.cut {
		parts = append(parts, string(goesOn)+" goes on")
	}
	if len(parts) > 0 {
		b.WriteString(p.paint(faint, wrap(strings.Join(parts, " · "), pageWidth, 0)))
		b.WriteByte('\n')
	}
}

// drawNotes appends what a cell has no room for: the median of a time that
// some seeds never saw.
func drawNotes(b *strings.Builder, r *metrics.Result) {
	m := settling(r)
	for i := range r.Results {
		f := r.Results[i].Figure(m)
		if f.Never == 0 || f.Never == 1 {
			continue
		}
		text := fmt.Sprintf("%s: %s never comes on %s of the seeds; ", printable(r.Results[i].Strategy), settlingWord(r), format.Percent(f.Never))
		if f.Median == nil {
			text += "the median is never, too."
		} else {
			text += "the median, with never as infinity, is " + format.Settling(*f.Median, false) + "."
		}
		b.WriteString(wrap(text, pageWidth, 2))
		b.WriteByte('\n')
	}
}
