package cli

import (
	"path/filepath"
	"strings"

	"herdlab/sim/metrics"
)

// page is a result as a person reads it: what was simulated, the table, and
// the verdict in words. about is what the scenario says about itself.
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

// whereNext says where the pictures are and how to see more.
func whereNext(files []string, wide bool) string {
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
		more += "--wide for every figure with its interval; "
	}
	more += "--json for programs; 'herdlab strategies' for what each one does; 'herdlab init' for a scenario of your own."
	b.WriteString(wrap(more, pageWidth, 2))
	b.WriteByte('\n')
	return b.String()
}

// byStem puts files that differ in their extension only on one line: the first
// as a path to copy, the others by their extension.
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
