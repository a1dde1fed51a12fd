package main

import (
	"fmt"
	"strings"

	"herdlab/sim/metrics"
)

// drawIntro appends what is being simulated, for somebody who has never seen
// the scenario.
func drawIntro(b *strings.Builder, p palette, r *metrics.Result, about string) {
	x := &r.Scenario
	title := printable(x.Name)
	if x.Title != "" {
		title += ": " + printable(x.Title)
	}
	b.WriteString(p.paint(strong, wrap(title, pageWidth, 0)))
	b.WriteByte('\n')
	for _, text := range []string{printable(about), setting(x), method(r)} {
		if text != "" {
			b.WriteString(wrap(text, pageWidth, 0))
			b.WriteByte('\n')
		}
	}
}

// setting says who calls whom, and what goes wrong.
func setting(x *metrics.Scenario) string {
	parts := []string{count(x.Clients, "client")}
	switch {
	case x.Input != nil:
		parts[0] += fmt.Sprintf(" replaying %s of %s", count(x.Input.Rows, "call"), printable(x.Input.Name))
	case x.OneShot:
		parts[0] += ", one call each"
	}
	for _, f := range x.Faults {
		parts = append(parts, printable(f.Name)+" "+metrics.FormatPeriod(f.From, f.To))
	}
	if x.Capacity > 0 {
		parts = append(parts, "capacity "+metrics.FormatSet(x.Capacity)+" calls per s")
	} else {
		parts = append(parts, "capacity unbounded")
	}
	return strings.Join(parts, "; ") + "."
}

// method says how the figures came about.
func method(r *metrics.Result) string {
	s := counted(len(r.Results), "strategy", "strategies")
	switch n := len(r.Seeds); {
	case n == 1:
		s += fmt.Sprintf(", seed %d", r.Seeds[0])
	case n > 1:
		s += fmt.Sprintf(" × %d seeds (%d–%d), same days for each; means over seeds", n, r.Seeds[0], r.Seeds[n-1])
	}
	return s + "; " + metrics.FormatSet(r.Scenario.Bin) + " s bins."
}

func count(n int, thing string) string { return counted(n, thing, thing+"s") }

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return metrics.FormatFixed(float64(n), 0) + " " + many
}
