package cli

import (
	"fmt"
	"strings"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
)

// drawLegend appends the meaning of the marks and the sparklines, and the seed of the
// sparklines unless the heading has it.
func drawLegend(b *strings.Builder, p palette, r *metrics.Result, s *sparks, seedShown bool) {
	var parts []string
	if v := r.Verdict; v != nil {
		if v.Winner != "" {
			word := "winner"
			if v.Outcome == metrics.OnlyFit {
				word = "the only fit one"
			}
			parts = append(parts, winnerMark+word)
		} else if len(v.Leaders) > 0 {
			parts = append(parts, leaderMark+"leading")
		}
		if len(v.Disqualified) > 0 {
			parts = append(parts, disqualifiedMark+"disqualified")
		}
		if len(v.Undecided) > 0 {
			parts = append(parts, undecidedMark+"undecided")
		}
	}
	if s.top > 0 {
		scale := "log"
		if !seedShown {
			scale += ", " + seedOf(r)
		}
		parts = append(parts, fmt.Sprintf("%c 1 … %c %s in the busiest %s (%s)",
			levels[0], levels[len(levels)-1], format.Number(float64(s.top)), binWidth(r.Scenario.Bin), scale))
	}
	if s.cut {
		parts = append(parts, string(goesOn)+" continues")
	}
	if len(parts) > 0 {
		b.WriteString(p.paint(faint, wrap(strings.Join(parts, " · "), pageWidth, 0)))
		b.WriteByte('\n')
	}
}

// drawNotes appends the median of a time that is never on some seeds, for which the
// cell has no room.
func drawNotes(b *strings.Builder, r *metrics.Result) {
	m := settling(r)
	for i := range r.Results {
		f := r.Results[i].Estimate(m)
		if f.Never == 0 || f.Never == 1 {
			continue
		}
		text := fmt.Sprintf("%s: no %s on %s of the seeds; ", printable(r.Results[i].Strategy), settlingWord(r), format.Percent(f.Never))
		if f.Median == nil {
			text += "the median is never too."
		} else {
			text += "the median, with never as infinity, is " + format.Settling(*f.Median, false) + "."
		}
		b.WriteString(wrap(text, pageWidth, 2))
		b.WriteByte('\n')
	}
}
