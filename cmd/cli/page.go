package cli

import (
	"path/filepath"
	"strings"

	"herdlab/sim/metrics"
)

// page returns a result as text: what was simulated, the table, and the verdict.
// about is the first paragraph of the scenario's description.
func page(p palette, r *metrics.Result, about string, wide bool) string {
	var b strings.Builder
	drawIntro(&b, p, r, about)
	b.WriteByte('\n')
	if len(r.Results) > 0 {
		drawTable(&b, p, r)
		if wide {
			drawWide(&b, p, r)
		}
	}
	if r.Verdict != nil && r.Verdict.Sentence != "" {
		b.WriteByte('\n')
		b.WriteString(wrap(printable(r.Verdict.Sentence), pageWidth, 0))
		b.WriteByte('\n')
	}
	return b.String()
}

// footer names the files of the pictures and the commands that show more.
func footer(files []string, wide bool) string {
	var b strings.Builder
	b.WriteByte('\n')
	if len(files) > 0 {
		b.WriteString("Pictures:\n")
		for _, line := range byStem(files) {
			b.WriteString("  " + line + "\n")
		}
	}
	more := "More: "
	if !wide {
		more += "--wide for every metric with its interval; "
	}
	more += "--json for programs; 'herdlab strategies' for descriptions; 'herdlab init' for a scenario of your own."
	b.WriteString(wrap(more, pageWidth, 2))
	b.WriteByte('\n')
	return b.String()
}

// byStem puts files that differ only in their extension on one line: the first with
// its path, the others by their extension.
func byStem(files []string) []string {
	var lines []string
	stem := ""
	for _, f := range files {
		ext := filepath.Ext(f)
		if s := strings.TrimSuffix(f, ext); s == stem {
			lines[len(lines)-1] += ", " + ext
		} else {
			stem = s
			lines = append(lines, f)
		}
	}
	return lines
}
