package plots

import (
	"fmt"
	"slices"
	"strings"

	"herdlab/sim/metrics/format"
)

// scenarioLine describes the scenario in one line.
func (s *summary) scenarioLine() string {
	var parts []string
	if s.name != "" {
		parts = append(parts, s.name)
	}
	switch {
	case s.clients == 1:
		parts = append(parts, "1 client")
	case s.clients > 1:
		parts = append(parts, format.Fixed(float64(s.clients), 0)+" clients")
	}
	if s.capacity > 0 {
		parts = append(parts, "capacity "+format.Set(s.capacity)+" per second")
	} else {
		parts = append(parts, "unlimited capacity")
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
		parts = append(parts, name+" "+format.Period(f.From, f.To))
	}
	return body.fit(strings.Join(parts, " · "), pageWidth-2*margin)
}

// binName is the name of a bin in a sentence.
func (s *summary) binName() string {
	if s.bin == 1 {
		return "second"
	}
	return "bin of " + s.binWidth()
}

// binsName is the plural of binName.
func (s *summary) binsName() string {
	if s.bin == 1 {
		return "seconds"
	}
	return "bins of " + s.binWidth()
}

// binWidth is the width of a bin, with its unit.
func (s *summary) binWidth() string { return format.Width(s.bin) }

// faultNames is the name of the shaded areas.
func (s *summary) faultNames() string {
	if len(s.faults) > 1 {
		return "faults"
	}
	return s.fault()
}

// seedCount is the number of seeds with its noun.
func (s *summary) seedCount() string { return format.Fixed(float64(s.seeds), 0) + " seeds" }

// notes returns the text at the foot of a figure over time: first, and the origin
// of the values.
func (s *summary) notes(first string) []string {
	if len(s.faults) > 0 {
		first += ", aligned to the end of the " + s.fault()
	}
	first += ". The panels show the run with the first seed"
	if s.seeds > 1 {
		first += "; the values at the left are means over " + s.seedCount()
	}
	notes := []string{first + "."}
	end := s.window().hi
	if slices.ContainsFunc(s.rows, func(r row) bool { return r.attempts.lastActive() > end }) {
		notes = append(notes, "→ Attempts continue after the end of the time axis.")
	}
	if s.omitted > 0 {
		notes = append(notes, fmt.Sprintf("%d more strategies are not shown.", s.omitted))
	}
	return notes
}
