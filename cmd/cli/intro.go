package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
)

// drawIntro appends a description of what was simulated, for a reader who does not know
// the scenario.
func drawIntro(b *strings.Builder, p palette, r *metrics.Result, about string) {
	x := &r.Scenario
	title := printable(x.Name)
	if x.Title != "" {
		title += ": " + printable(x.Title)
	}
	b.WriteString(p.paint(strong, wrap(title, pageWidth, 0)))
	b.WriteByte('\n')
	for _, text := range []string{printable(about), setting(x), missed(x), method(r)} {
		if text != "" {
			b.WriteString(wrap(text, pageWidth, 0))
			b.WriteByte('\n')
		}
	}
}

// setting describes the clients, the faults and the capacity.
func setting(x *metrics.Scenario) string {
	parts := []string{count(x.Clients, "client")}
	switch {
	case x.Input != nil:
		parts[0] += fmt.Sprintf(" replaying %s of %s", count(x.Input.Rows, "call"), printable(x.Input.Name))
	case x.OneShot:
		parts[0] += ", one call each"
	}
	if len(x.Fleets) > 0 {
		parts[0] += " in " + fleets(x.Fleets)
	}
	for i, f := range x.Faults {
		if i == maxListed {
			parts = append(parts, count(len(x.Faults)-i, "more fault"))
			break
		}
		parts = append(parts, printable(f.Name)+" "+format.Period(f.From, f.To))
	}
	if x.Capacity > 0 {
		parts = append(parts, "capacity "+format.Set(x.Capacity)+" calls per s")
	} else {
		parts = append(parts, "capacity unbounded")
	}
	return strings.Join(parts, "; ") + "."
}

// maxListed is the number of faults that are listed; the others are counted, as in the
// pictures. The same holds for fleets.
const maxListed = 3

// fleets lists the fleets, with the strategy of those that have a fixed one. Metrics
// and verdicts are about all fleets together.
func fleets(all []metrics.Fleet) string {
	var each []string
	for i, f := range all {
		if i == maxListed {
			each = append(each, fmt.Sprintf("%d more", len(all)-i))
			break
		}
		text := format.Fixed(float64(f.Clients), 0) + " " + printable(f.Name)
		if f.Strategy != "" {
			text += ", always " + printable(f.Strategy)
		}
		each = append(each, text)
	}
	return fmt.Sprintf("%s counted together (%s)", count(len(all), "fleet"), strings.Join(each, "; "))
}

// missed returns a warning if the trace ends before the first fault begins: every
// strategy would look good.
func missed(x *metrics.Scenario) string {
	if x.Input == nil || x.Input.Ends == nil || len(x.Faults) == 0 {
		return ""
	}
	first := slices.MinFunc(x.Faults, func(a, b metrics.Span) int { return cmp.Compare(a.From, b.From) })
	if *x.Input.Ends >= first.From {
		return ""
	}
	name := printable(first.Name)
	if len(x.Faults) > 1 {
		name = "first " + name
	}
	return fmt.Sprintf("The trace ends at %s, before the %s at %s: no new call arrives during it.",
		format.Moment(*x.Input.Ends), name, format.Moment(first.From))
}

// method describes the runs that the values come from.
func method(r *metrics.Result) string {
	s := counted(len(r.Results), "strategy", "strategies")
	switch n := len(r.Seeds); {
	case n == 1:
		s += fmt.Sprintf(", seed %d", r.Seeds[0])
	case n > 1:
		s += fmt.Sprintf(" × %s (%d–%d); every strategy sees the same random arrivals and faults; values are means over seeds", count(n, "seed"), r.Seeds[0], r.Seeds[n-1])
	}
	return s + "; " + format.Width(r.Scenario.Bin) + " bins."
}

func count(n int, thing string) string { return counted(n, thing, thing+"s") }

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return format.Fixed(float64(n), 0) + " " + many
}
