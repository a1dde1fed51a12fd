package plots

import (
	"fmt"
	"math"

	"herdlab/sim/metrics"
)

// secondPeak is how many times the capacity a peak after the last fault must
// exceed to be called a second one.
const secondPeak = 2

// Attempts draws attempts per second over time, one panel a strategy, on one
// logarithmic scale, with the peak after the last fault marked.
func Attempts(r *metrics.Result) *Figure {
	s := newSheet(r)
	// The least that can happen is one attempt in a bin.
	least, most := math.Inf(1), s.capacity
	for _, r := range s.rows {
		least = min(least, 1/r.attempts.width)
		peak, _ := r.attempts.peak(math.Inf(-1))
		most = max(most, peak)
	}
	if len(s.rows) == 0 {
		least = 1
	}
	f := strip{
		name: "attempts", headline: s.herdHeadline(), lead: []string{s.setting()}, unit: "attempts per second, log scale",
		pitch: min(max(math.Floor(1340/float64(max(len(s.rows), 1))), 102), 150), gap: 24,
		words: s.herdWords, notes: s.notes("Attempts per second in bins of " + s.binWidth()),
	}
	if w := s.window(); (w.hi-w.lo)/s.bin > 1.2*panelWidth {
		f.notes[0] += " A column of pixels shows the highest of its bins."
	}
	f.y = logScale(least, most)
	f.ticks = func(length float64) []tick { return f.y.decades(length, 15) }
	f.panel = func(p pen, r row, b box) { s.herdPanel(p, r, b) }
	f.keys = s.herdKeys()
	return f.figure(s)
}

// herdHeadline says in words what there is to see.
func (s *sheet) herdHeadline() string {
	switch {
	case len(s.faults) == 0:
		return "Attempts per second: how hard each strategy presses on the provider"
	case s.capacity == 0:
		return fmt.Sprintf("What reaches the provider when the %s ends, strategy by strategy", s.fault())
	}
	over := 0
	for _, r := range s.rows {
		if peak, _ := r.attempts.peak(s.after); peak > secondPeak*s.capacity {
			over++
		}
	}
	if over == 0 {
		return fmt.Sprintf("No second peak: after the %s every strategy stays within %d × capacity", s.fault(), secondPeak)
	}
	who := ""
	if len(s.rows) > 1 {
		who = fmt.Sprintf(" with %d of %d strategies", over, len(s.rows))
	}
	if !s.oneShot {
		// New calls may have their share in the peak.
		return fmt.Sprintf("After the %s, attempts peak above %d × capacity%s", s.fault(), secondPeak, who)
	}
	return fmt.Sprintf("The %s ends and the herd comes back: a second peak above %d × capacity%s", s.fault(), secondPeak, who)
}

func (s *sheet) herdKeys() []key {
	keys := []key{{paleArea, "attempts"}}
	switch {
	case s.capacity == 0 && len(s.faults) == 0:
		keys[0].mark = fullArea
	case s.capacity > 0 && len(s.faults) > 0:
		keys = append(keys, key{fullArea, s.binName() + " above capacity after the " + s.fault()})
	case s.capacity > 0:
		keys = append(keys, key{fullArea, s.binName() + " above capacity"})
	default:
		keys = append(keys, key{fullArea, "after the " + s.fault()})
	}
	if s.capacity > 0 {
		keys = append(keys, key{dashes, "capacity"})
	}
	peak := key{triangle, "highest " + s.binName()}
	if len(s.faults) > 0 {
		keys = append(keys, key{band, s.faultNames()})
		peak.text += " after it"
	}
	keys = append(keys, peak)
	if s.capacity > 0 {
		keys = append(keys, key{redTriangle, fmt.Sprintf("the same, above %d × capacity", secondPeak)})
	}
	return keys
}

func (s *sheet) herdPanel(p pen, r row, b box) {
	columns := r.attempts.columns(b.time.lo, b.time.hi, int(b.w))
	c := Colour(r.name)
	b.area(p, columns, 0, pale(c))
	clear(columns[:int(b.at(s.after)-b.x)])
	b.area(p, columns, s.capacity, c)
	b.capacityLine(p, s.capacity)
	s.markPeak(p, r, b)
	b.cut(p, r, s.capacity)
}

// markPeak points at the highest bin after the last fault and says how high it
// is.
func (s *sheet) markPeak(p pen, r row, b box) {
	peak, at := r.attempts.peak(s.after)
	if peak == 0 {
		if len(s.faults) > 0 {
			p.label(b.at(s.after)+8, b.y+b.h/2, small, quiet, 0, "no attempt after the "+s.fault())
		}
		return
	}
	text, face, c := metrics.FormatNumber(peak)+" /s", small, ink
	if s.capacity > 0 {
		text += " = " + metrics.FormatNumber(peak/s.capacity) + " × capacity"
		if peak > secondPeak*s.capacity {
			face, c = loud, alarm
		}
	}
	aside := ""
	if !s.oneShot {
		aside = "(new calls: " + metrics.FormatNumber(r.calls.at(at)) + " /s)"
	}
	middle := at + r.attempts.width/2
	if middle > b.time.hi {
		p.label(b.x+b.w-6, b.y+14, face, c, 1, text+" at "+b.moment(at))
		return
	}
	// The label stands above the peak; over the highest, between two panels.
	x, y := b.at(middle)+0.5, b.down(peak)-1
	p.pointer(x, y, c)
	left, w := x+9, face.width(text)
	asideAt := w
	if aside != "" {
		asideAt += 6
		w = asideAt + small.width(aside)
	}
	if left+w > b.x+b.w {
		left = x - 9 - w
	}
	p.label(left, y-4, face, c, 0, text)
	if aside != "" {
		p.label(left+asideAt, y-4, small, quiet, 0, aside)
	}
}

// herdWords are the key figures of a strategy: means over the seeds.
func (s *sheet) herdWords(r row) []string {
	var lines []string
	what := "peak"
	if len(s.faults) > 0 {
		what = "peak after"
	}
	if e := r.estimate(s.peak()).per(s.bin); e.known {
		line := fmt.Sprintf("%s %s /s", what, e.mean())
		if s.capacity > 0 && e.value > 0 {
			line += fmt.Sprintf(" (%s × capacity)", e.per(s.capacity).mean())
		}
		lines = append(lines, line)
	}
	lines = append(lines, s.settled(r)...)
	if e := r.estimate(metrics.Amplification); e.known {
		unit := " attempts per call"
		if e.mean() == "1" {
			unit = " attempt per call"
		}
		lines = append(lines, e.mean()+unit)
	}
	return lines
}

// settled says how long a strategy took to get over the last fault; nothing if
// there was none.
func (s *sheet) settled(r row) []string {
	m, verb := s.settling()
	e := r.estimate(m)
	some := "never in " + metrics.FormatPercent(e.never) + " of seeds"
	switch {
	case e.never == 1:
		return []string{"never " + verb}
	case e.never > 0 && !e.known:
		return []string{some}
	case !e.known:
		return nil
	}
	text := metrics.FormatSettling(e.value, e.varies())
	if text == metrics.AtOnce {
		text = verb + " " + text
	} else {
		text = verb + " in " + text
	}
	if e.never > 0 {
		return []string{text, some}
	}
	return []string{text}
}
