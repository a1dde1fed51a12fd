package cli

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"herdlab/sim/metrics"
)

// levels are the heights of a sparkline; no attempt is a space.
var levels = [...]rune{'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

const (
	// boundary marks in a sparkline where a fault begins or ends.
	boundary = '│'
	// goesOn ends the sparkline of a run that continues beyond the axis.
	goesOn = '→'
)

// sparks draws the attempts of several runs over time, all on the same time axis and
// the same logarithmic scale. A step shows the busiest of its bins: a herd lasts one
// second, and a mean would hide it.
type sparks struct {
	width int
	spans []span // between the boundaries
	end   int    // the bin at which the axis ends
	top   uint32 // the busiest bin of all runs
	cut   bool   // whether a run continues beyond the axis
	lasts bool   // whether the axis ends in the fault
}

// span is a part of the axis: bins from ≤ i < to on cols columns.
type span struct{ from, to, cols int }

// newSparks lays out an axis of width columns for the result's timelines, with
// boundaries where the first fault begins and the last one ends.
func newSparks(r *metrics.Result, width int) sparks {
	s := sparks{width: width}
	var ends []int // of the runs
	for i := range r.Results {
		end := 0
		for j, n := range r.Results[i].Timeline.Attempts {
			if n > 0 {
				s.top, end = max(s.top, n), j+1
			}
		}
		ends = append(ends, end)
	}
	if s.top == 0 || width < 1 {
		return s
	}
	slices.Sort(ends)
	last := ends[len(ends)-1]
	begin, over := faultBins(r, last)
	s.end = axisEnd(ends, over, r.Scenario.OneShot)
	s.cut = s.end < last
	edges := []int{0}
	for _, bin := range []int{begin, over} {
		if bin > edges[len(edges)-1] && bin < s.end {
			edges = append(edges, bin)
		}
	}
	edges = append(edges, s.end)
	s.lasts = over >= s.end
	if width < 2*len(edges)-3 { // too narrow for one step between boundaries
		edges = []int{0, s.end}
	}
	s.spans = divide(edges, width-(len(edges)-2))
	return s
}

// axisEnd returns the bin at which the axis ends, given the sorted ends of the runs and
// the bin in which the last fault ends. It is where four of five runs have ended: one
// run of ten times the length would leave no room for the others, so it is cut.
func axisEnd(ends []int, over int, oneShot bool) int {
	last := ends[len(ends)-1]
	end := max(ends[(4*len(ends)+4)/5-1], over+over/5)
	if oneShot && over > 0 {
		end = min(end, 5*over) // a strategy that never drains shows nothing new after that
	}
	if end >= last || last <= end+end/4 {
		return last
	}
	return end
}

// faultBins returns the bins in which the first fault begins and the last one
// ends, 0 to last.
func faultBins(r *metrics.Result, last int) (begin, end int) {
	if len(r.Scenario.Faults) == 0 {
		return 0, 0
	}
	from, to := math.Inf(1), math.Inf(-1)
	for _, f := range r.Scenario.Faults {
		from, to = min(from, f.From), max(to, f.To)
	}
	t := &r.Results[0].Timeline
	bin := func(at float64) int { // clamped as a float: a fault may lie far outside the run
		return int(min(max(math.Round((at-t.Start)/t.Width), 0), float64(last)))
	}
	return bin(from), bin(to)
}

// divide distributes cols columns over the spans between the edges in proportion to
// their lengths, at least one to each: each further column goes to the span whose steps
// have the most bins.
func divide(edges []int, cols int) []span {
	spans := make([]span, len(edges)-1)
	for i := range spans {
		spans[i] = span{edges[i], edges[i+1], 1}
	}
	for range cols - len(spans) {
		widest := 0
		for i, s := range spans {
			w := spans[widest]
			if (s.to-s.from)*w.cols > (w.to-w.from)*s.cols {
				widest = i
			}
		}
		spans[widest].cols++
	}
	return spans
}

// line draws one run.
func (s *sparks) line(attempts []uint32) string {
	var b strings.Builder
	for i, part := range s.spans {
		if i > 0 {
			b.WriteRune(boundary)
		}
		for col := range part.cols {
			n := part.to - part.from
			from := part.from + col*n/part.cols
			to := max(part.from+(col+1)*n/part.cols, from+1)
			b.WriteRune(s.level(busiest(attempts, from, to)))
		}
	}
	line := b.String()
	if busiest(attempts, s.end, len(attempts)) > 0 {
		_, size := utf8.DecodeLastRuneInString(line)
		line = line[:len(line)-size] + string(goesOn)
	}
	return line
}

func busiest(attempts []uint32, from, to int) uint32 {
	var most uint32
	for i := from; i < min(to, len(attempts)); i++ {
		most = max(most, attempts[i])
	}
	return most
}

// level returns the height for n attempts: the lowest for one, the highest for the
// maximum over all runs.
func (s *sparks) level(n uint32) rune {
	switch {
	case n == 0:
		return ' '
	case n >= s.top:
		return levels[len(levels)-1]
	}
	return levels[int(math.Round(float64(len(levels)-1)*math.Log(float64(n))/math.Log(float64(s.top))))]
}

// heading labels the parts on both sides of the last boundary, each with the first of
// its labels that fits. If the axis ends in the fault, its label is the one after the
// boundary.
func (s *sparks) heading(before, after []string) string {
	if len(s.spans) < 2 {
		return clip("over time", s.width)
	}
	if s.lasts {
		before, after = nil, before
	}
	last := len(s.spans) - 1
	room := last - 1 // the earlier boundaries
	for _, part := range s.spans[:last] {
		room += part.cols
	}
	label := fitting(before, room)
	return strings.Repeat(" ", room-columns(label)) + label + string(boundary) + fitting(after, s.spans[last].cols)
}

// fitting returns the first of the labels that is not wider than room, "" if none is.
func fitting(labels []string, room int) string {
	for _, w := range labels {
		if columns(w) <= room {
			return w
		}
	}
	return ""
}
