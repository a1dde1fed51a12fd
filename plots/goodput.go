package plots

import (
	"fmt"
	"math"

	"herdlab/sim/metrics"
)

// Goodput draws useful answers per second over time, one panel a strategy, in
// bins that are wide enough to be read, on one linear scale.
func Goodput(r *metrics.Result) *Figure {
	s := newSheet(r)
	width := s.goodputBin()
	rebinned := func(c series) bars {
		return c.rebin(max(1, int(math.Round(min(width/c.width, 1e9)))), s.after, s.horizon)
	}
	most := s.capacity
	for _, r := range s.rows {
		for _, v := range rebinned(r.useful).rate {
			most = max(most, v)
		}
	}
	if most == 0 {
		most = 1
	}
	f := strip{
		name: "goodput", headline: s.goodputHeadline(), unit: "answers per second",
		lead:  []string{s.setting()},
		pitch: min(max(math.Floor(1040/float64(max(len(s.rows), 1))), 78), 140), gap: 16,
		words: s.goodputWords,
		y:     scale{hi: most * 1.12},
		notes: s.notes("Useful answers per second in bins of " + metrics.FormatWidth(width)),
	}
	f.ticks = func(length float64) []tick { return f.y.round(max(1, int(length/15))) }
	f.panel = func(p pen, r row, b box) {
		n := int(b.w)
		b.area(p, rebinned(r.useful).columns(b.time.lo, b.time.hi, n), 0, Colour(r.name))
		if !s.oneShot {
			b.steps(p, rebinned(r.calls).columns(b.time.lo, b.time.hi, n), arrival)
		}
		b.capacityLine(p, s.capacity)
		s.markSettled(p, r, b)
		b.cut(p, r, s.capacity)
	}
	f.keys = []key{{fullArea, "useful answers"}}
	if !s.oneShot {
		f.keys = append(f.keys, key{stroke, "new calls"})
	}
	if s.capacity > 0 {
		f.keys = append(f.keys, key{dashes, "capacity"})
	}
	if len(s.faults) > 0 {
		_, verb := s.settling()
		f.keys = append(f.keys, key{band, s.faultNames()}, key{milestone, verb})
	}
	return f.figure(s)
}

// goodputBin is a round multiple of the bins of the result of which about
// sixty fill the window.
func (s *sheet) goodputBin() float64 {
	w := s.window()
	width := niceTime((w.hi - w.lo) / 60)
	return s.bin * max(1, math.Ceil(width/s.bin-1e-9))
}

func (s *sheet) goodputHeadline() string {
	switch {
	case len(s.faults) == 0:
		return "Useful answers per second, strategy by strategy"
	case s.capacity == 0:
		return fmt.Sprintf("Useful answers per second: how soon they come when the %s ends", s.fault())
	}
	return fmt.Sprintf("Useful answers per second: how well each strategy uses the capacity once the %s ends", s.fault())
}

func (s *sheet) goodputWords(r row) []string {
	var lines []string
	if e := r.estimate(metrics.SuccessRate); e.known {
		lines = append(lines, metrics.FormatPercent(e.value)+" of calls answered")
	}
	if e := r.estimate(metrics.SilentLosses); e.known && e.value > 0 {
		lines = append(lines, e.mean()+" calls lost silently")
	}
	return append(lines, s.settled(r)...)
}

// markSettled points at the time when the run with the first seed was over the
// last fault.
func (s *sheet) markSettled(p pen, r row, b box) {
	m, verb := s.settling()
	f := r.figures[m.Info().Name]
	if len(s.faults) == 0 || len(f.PerSeed) == 0 {
		return
	}
	first := f.PerSeed[0]
	if first == nil && f.Never > 0 {
		p.label(b.at(s.after)+8, b.y+b.h*0.42, small, quiet, 0, "never "+verb)
	}
	if !usable(first) || *first < 0 {
		return
	}
	t := s.after + *first
	if t > b.time.hi {
		return
	}
	x, text := b.at(t), metrics.FormatSettling(*first, false)
	if text == metrics.AtOnce {
		text = verb + " " + text
	} else {
		text = verb + " after " + text
	}
	p.vline(x, b.y, b.y+b.h, praise, 2, 2)
	p.pointer(x+0.5, b.y+8, praise)
	y := b.y + b.h*0.42
	if x+9+small.width(text) < b.x+b.w {
		p.label(x+7, y, small, praise, 0, text)
	} else {
		p.label(x-7, y, small, praise, 1, text)
	}
}
