package plots

import (
	"cmp"
	"math"
	"slices"

	"herdlab/sim/metrics"
)

// maxRows bounds how many strategies a figure shows: beyond it a picture is no
// longer read, and a hostile result would ask for gigabytes of pixels.
const maxRows = 40

const (
	// maxFaults bounds how many faults are shaded.
	maxFaults = 100
	// longest is a time in seconds, or a rate, that no run has.
	longest = 1e15
	// least is the shortest time in seconds that a run knows, a nanosecond, with
	// a margin for rounding.
	least = 0.99e-9
)

// sheet is a result as the figures need it: text that can be drawn, times that
// make sense, and nothing to check any more.
type sheet struct {
	name     string
	clients  int
	capacity float64 // per second; 0 if unbounded
	bin      float64 // seconds
	horizon  float64 // seconds; 0 if unknown
	oneShot  bool
	seeds    int
	faults   []metrics.Span // by beginning
	after    float64        // the end of the last fault; 0 without faults
	maxPeak  float64        // × capacity; 0 if nobody judged
	rows     []row
	omitted  int
	sentence string
	outcome  metrics.Outcome // empty if nobody judged
	winner   string
	metric   metrics.Metric // that was judged
}

// row is what one strategy did.
type row struct {
	name                    string
	attempts, useful, calls series
	figures                 metrics.Figures
	winner                  bool
	disqualified            bool
	reason                  string
}

func newSheet(r *metrics.Result) *sheet {
	if r == nil {
		r = &metrics.Result{}
	}
	sc := &r.Scenario
	s := &sheet{
		name: clean(sc.Name), clients: sc.Clients, oneShot: sc.OneShot, seeds: len(r.Seeds),
		capacity: positive(sc.Capacity), bin: positive(sc.Bin), horizon: positive(sc.Horizon),
	}
	if s.bin == 0 {
		s.bin = 1
	}
	for _, f := range sc.Faults {
		if f.From < f.To && positive(f.To) > 0 && len(s.faults) < maxFaults {
			s.faults = append(s.faults, metrics.Span{Name: clean(f.Name), From: max(f.From, 0), To: f.To})
			s.after = max(s.after, f.To)
		}
	}
	slices.SortStableFunc(s.faults, func(a, b metrics.Span) int { return cmp.Compare(a.From, b.From) })
	for i := range r.Results {
		if len(s.rows) == maxRows {
			s.omitted = len(r.Results) - maxRows
			break
		}
		s.rows = append(s.rows, newRow(&r.Results[i], r.Verdict))
	}
	if v := r.Verdict; v != nil {
		s.outcome, s.maxPeak, s.sentence = v.Outcome, positive(v.MaxPeak), clean(v.Sentence)
		s.winner = v.Winner
		var err error
		if s.metric, err = metrics.ParseMetric(v.Metric); err != nil {
			s.metric, _ = s.settling() // a verdict that was not made by Judge
		}
	}
	return s
}

func newRow(r *metrics.StrategyResult, v *metrics.Verdict) row {
	t := &r.Timeline
	of := func(counts []uint32) series {
		if !usable(&t.Start) || positive(t.Width) == 0 {
			return series{width: 1}
		}
		return series{start: t.Start, width: t.Width, counts: counts}
	}
	out := row{
		name: r.Strategy, figures: r.Metrics,
		attempts: of(t.Attempts), useful: of(t.Useful), calls: of(t.Calls),
	}
	if v == nil {
		return out
	}
	out.winner = v.Winner == r.Strategy && v.Winner != ""
	for _, d := range v.Disqualified {
		if d.Strategy == r.Strategy {
			out.disqualified, out.reason = true, clean(d.Reason)
		}
	}
	return out
}

// estimate is a metric over the seeds.
type estimate struct {
	// known says that there is a value at all: the mean with the 95 % interval
	// lo to hi if there is one, or the median if the time never came for some.
	known         bool
	value, lo, hi float64
	never         float64 // share of the seeds
}

func (r row) estimate(m metrics.Metric) estimate {
	f := r.figures[m.Info().Name]
	e := estimate{never: min(positive(f.Never), 1)}
	mid := f.Mean
	if mid == nil {
		mid = f.Median
	}
	if !usable(mid) {
		return e
	}
	e.known, e.value, e.lo, e.hi = true, *mid, *mid, *mid
	if f.Mean != nil && usable(f.Lo) && usable(f.Hi) && *f.Lo <= *mid && *mid <= *f.Hi {
		e.lo, e.hi = *f.Lo, *f.Hi
	}
	return e
}

// usable says whether a value is there and can be drawn.
func usable(v *float64) bool { return v != nil && math.Abs(*v) < longest }

// per is e in units of another value: a count per bin per second, or a rate as
// a multiple of capacity.
func (e estimate) per(unit float64) estimate {
	e.value, e.lo, e.hi = e.value/unit, e.lo/unit, e.hi/unit
	return e
}

func (e estimate) varies() bool { return e.lo < e.hi }

// mean writes the value.
func (e estimate) mean() string { return metrics.FormatMean(e.value, e.varies()) }

// peak is the metric that is judged as the peak: that after the last fault, or
// of the whole run where there is none.
func (s *sheet) peak() metrics.Metric {
	return metrics.ByPeak.Metric(&metrics.Scenario{Faults: s.faults})
}

// settling is the metric that is judged after a fault, and what it is called.
func (s *sheet) settling() (metrics.Metric, string) {
	if s.oneShot {
		return metrics.DrainTime, "drained"
	}
	return metrics.RecoveryTime, "recovered"
}

// fault is what to call the disturbance in a sentence.
func (s *sheet) fault() string {
	if len(s.faults) != 1 {
		return "last fault"
	}
	if name := s.faults[0].Name; name != "" && len(name) <= 24 {
		return name
	}
	return "fault"
}

// window is the time that figures show: from the start until shortly after
// most strategies have sent their last attempt. Those that go on are cut there,
// and their panels say so, because one that takes ten times as long would
// squeeze what is to be seen of all others.
func (s *sheet) window() scale {
	var ends []float64
	from := math.Inf(1)
	for _, r := range s.rows {
		if len(r.attempts.counts) > 0 {
			ends = append(ends, r.attempts.lastActive())
			from = min(from, r.attempts.start)
		}
	}
	if len(ends) == 0 {
		return scale{lo: 0, hi: max(s.after*1.5, s.bin)}
	}
	slices.Sort(ends)
	last := ends[len(ends)-1]
	const most = 0.8 // of the strategies
	end := ends[int(math.Ceil(most*float64(len(ends))))-1]
	end = max(end, s.after+0.2*(s.after-max(from, 0)))
	if last <= end*1.3 {
		end = max(end, last)
	}
	if s.oneShot && len(s.faults) > 0 {
		// Where most never drain, their endless tail shows nothing new.
		end = min(end, s.after+4*(s.after-max(from, 0)))
	}
	// Bins are aligned to the end of the fault, so the first may begin before 0.
	from = max(from, 0)
	length := max(end-from, s.bin)
	step := niceTime(length / 30)
	// The last term matters only where times are so large that seconds vanish.
	return scale{lo: from, hi: max(from+step*math.Ceil(length*1.01/step), from*(1+1e-9))}
}

// positive returns v, or 0 if it is not a number from 1e-9 on that can be drawn.
func positive(v float64) float64 {
	if v >= least && v < longest {
		return v
	}
	return 0
}
