package plots

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
	"herdlab/sim/verdict"
)

// maxRows bounds the strategies in a figure. A larger figure is unreadable, and
// without a bound a malformed result could need gigabytes of pixels.
const maxRows = 40

const (
	// maxFaults bounds the faults that are shaded.
	maxFaults = 100
	// longest is larger than any time in seconds and any rate of a run.
	longest = 1e15
	// least is the shortest time in seconds, a nanosecond, with a margin for
	// rounding.
	least = 0.99e-9
)

// summary has the contents of a result that figures show, checked: every text
// can be drawn, and every time and rate is in range.
type summary struct {
	name     string
	clients  int
	capacity float64 // per second; 0 if unbounded
	bin      float64 // seconds
	horizon  float64 // seconds; 0 if unknown
	oneShot  bool
	seeds    int
	faults   []metrics.Span // ordered by From
	after    float64        // the end of the last fault; 0 without faults
	maxPeak  float64        // × capacity; 0 without a verdict
	rows     []row
	omitted  int
	sentence string
	outcome  metrics.Outcome // empty without a verdict
	winner   string
	leaders  string         // several that lead together
	metric   metrics.Metric // the judged metric
}

// row has the results of one strategy.
type row struct {
	name                    string
	attempts, useful, calls series
	values                  metrics.Estimates
	winner                  bool
	disqualified            bool
	reason                  string
}

func newSummary(r *metrics.Result) *summary {
	if r == nil {
		r = &metrics.Result{}
	}
	sc := &r.Scenario
	s := &summary{
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
		s.winner, s.leaders = v.Winner, clean(strings.Join(v.Leaders, ", "))
		var err error
		if s.metric, err = metrics.ParseMetric(v.Metric); err != nil {
			s.metric, _ = s.settlingMetric() // the verdict was not made by Judge
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
		name: r.Strategy, values: r.Metrics,
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
	// known is true if there is a value: the mean, with the 95 % interval lo to
	// hi if there is one, or the median if the time is never for some seeds.
	known         bool
	value, lo, hi float64
	never         float64 // share of the seeds for which the time is never
}

// estimate returns the estimate of m.
func (r row) estimate(m metrics.Metric) estimate {
	f := r.values[m.Info().Name]
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

// usable reports whether there is a value and it is in range.
func usable(v *float64) bool { return v != nil && math.Abs(*v) < longest }

// per returns e in units of another value: with the width of a bin, a count per
// bin becomes a rate; with the capacity, a rate becomes a multiple of capacity.
func (e estimate) per(unit float64) estimate {
	e.value, e.lo, e.hi = e.value/unit, e.lo/unit, e.hi/unit
	return e
}

// varies reports whether the interval is not a point.
func (e estimate) varies() bool { return e.lo < e.hi }

// mean formats the value.
func (e estimate) mean() string { return format.Mean(e.value, e.varies()) }

// peak is the metric that is judged as the peak: the peak after the last fault, or
// that of the whole run without faults.
func (s *summary) peak() metrics.Metric {
	return verdict.ByPeak.Metric(&metrics.Scenario{Faults: s.faults})
}

// settlingMetric is the duration that is judged after a fault, and the verb for it.
func (s *summary) settlingMetric() (metrics.Metric, string) {
	if s.oneShot {
		return metrics.DrainTime, "drained"
	}
	return metrics.RecoveryTime, "recovered"
}

// fault is the name of the last fault in a sentence.
func (s *summary) fault() string {
	if len(s.faults) != 1 {
		return "last fault"
	}
	if name := s.faults[0].Name; name != "" && len(name) <= 24 {
		return name
	}
	return "fault"
}

// window is the time axis: from the start until shortly after most strategies
// have sent their last attempt. A strategy that takes ten times longer would
// compress the panels of all others, so its panel is cut and contains a note.
func (s *summary) window() scale {
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
		// If most strategies never drain, the rest of the run repeats itself.
		end = min(end, s.after+4*(s.after-max(from, 0)))
	}
	// Bins are aligned to the end of the fault, so the first may begin before 0.
	from = max(from, 0)
	length := max(end-from, s.bin)
	step := niceTime(length / 30)
	// The last term matters only for times so large that rounding hides seconds.
	return scale{lo: from, hi: max(from+step*math.Ceil(length*1.01/step), from*(1+1e-9))}
}

// positive returns v, or 0 if v is less than a nanosecond, too large, or not a
// number.
func positive(v float64) float64 {
	if v >= least && v < longest {
		return v
	}
	return 0
}
