package plots

import (
	"fmt"
	"strings"

	"herdlab/sim/metrics"
)

// setting describes the scenario in a line.
func (s *sheet) setting() string {
	var parts []string
	if s.name != "" {
		parts = append(parts, s.name)
	}
	switch {
	case s.clients == 1:
		parts = append(parts, "1 client")
	case s.clients > 1:
		parts = append(parts, metrics.FormatFixed(float64(s.clients), 0)+" clients")
	}
	if s.capacity > 0 {
		parts = append(parts, "the provider can serve "+metrics.FormatSet(s.capacity)+" per second")
	} else {
		parts = append(parts, "the provider's capacity is not bounded")
	}
	for i, f := range s.faults {
		if i == 3 {
			more := "more faults"
			if len(s.faults)-i == 1 {
				more = "more fault"
			}
			parts = append(parts, fmt.Sprintf("%d %s", len(s.faults)-i, more))
			break
		}
		name := f.Name
		if name == "" {
			name = "fault"
		}
		parts = append(parts, name+" "+metrics.FormatPeriod(f.From, f.To))
	}
	return body.fit(strings.Join(parts, " · "), pageWidth-2*margin)
}

// binName is what to call a bin.
func (s *sheet) binName() string {
	if s.bin == 1 {
		return "second"
	}
	return s.binWidth()
}

// binWidth is the width of a bin, with its unit.
func (s *sheet) binWidth() string { return metrics.FormatWidth(s.bin) }

// faultNames is what to call all that is shaded.
func (s *sheet) faultNames() string {
	if len(s.faults) > 1 {
		return "faults"
	}
	return s.fault()
}

// seedCount writes how many seeds there are.
func (s *sheet) seedCount() string { return metrics.FormatFixed(float64(s.seeds), 0) + " seeds" }

// notes say where the numbers come from, after the first words.
func (s *sheet) notes(first string) []string {
	if len(s.faults) > 0 {
		first += ", aligned to the end of the " + s.fault()
	}
	first += ". Curves: the run with the first seed"
	if s.seeds > 1 {
		first += "; figures at the left: means over " + s.seedCount()
	}
	notes := []string{first + "."}
	if s.omitted > 0 {
		notes = append(notes, fmt.Sprintf("%d more strategies are not shown.", s.omitted))
	}
	return notes
}
