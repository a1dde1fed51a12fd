package metrics

import (
	"math"
	"time"
)

// recoveryWindow is how long useful answers must hold the level to count as
// recovered, unless two mean service times are longer; recoveryShare is the
// level.
const (
	recoveryWindow = 10 * time.Second
	recoveryShare  = 0.95
)

// Recovery is the time in seconds from the end of the last fault until useful
// answers stay at or above 95 % of min(arrivals + backlog, capacity) over 10 s.
// It is Undefined without a fault and for one-shot fleets, and Never if that is
// not seen to happen before the run is cut off.
//
// To the letter, the definition would hold a service time against those who
// are well: a call that arrives at the end of the window is an arrival, and
// nobody could have answered it in time. So arrivals are counted without those
// that are still pending at the window's end and came so late that a healthy
// provider would not have answered them either, within the last Plan.Service,
// rounded up to whole bins. What is in service when the window begins remains a
// backlog: it must be answered in the window, so this lasts two service times
// where 10 s are less, and whole bins in any case.
//
// What follows the end of a run that ended by itself with nothing pending is
// quiet: where nobody waits and nobody calls, service has recovered at once.
func (r *Report) Recovery() float64 {
	if r.Plan.FaultEnd == 0 || r.Plan.OneShot {
		return Undefined
	}
	s := &r.Series
	width, late := r.window()
	first := s.binOf(r.Plan.FaultEnd)
	last := s.binOf(r.End) - width // bins are known as far as the run went
	if r.Pending() == 0 && r.End < r.Plan.Horizon {
		last = max(len(s.Calls), first)
	}
	capacity := math.Inf(1)
	if r.Plan.Capacity > 0 {
		capacity = r.Plan.Capacity * float64(width) * s.Width.Seconds()
	}
	// Of the window that begins with bin i: answers, calls settled, calls that
	// came late in it, and calls pending at its end.
	i, end := first, first+width
	useful, settled := sum(s.Useful, i, end), sum(s.Settled, i, end)
	young := sum(s.Calls, end-late, end)
	pending := sum(s.Calls, 0, end) - sum(s.Settled, 0, end)
	for ; i <= last; i, end = i+1, end+1 {
		possible := min(float64(settled+max(0, pending-young)), capacity)
		if float64(useful) >= recoveryShare*possible {
			return (s.Start + time.Duration(i)*s.Width - r.Plan.FaultEnd).Seconds()
		}
		useful += at(s.Useful, end) - at(s.Useful, i)
		settled += at(s.Settled, end) - at(s.Settled, i)
		young += at(s.Calls, end) - at(s.Calls, end-late)
		pending += at(s.Calls, end) - at(s.Settled, end)
	}
	return Never
}

// window is how many bins useful answers must hold the level, and how many of
// them are too late for a call to be answered within them.
func (r *Report) window() (width, late int) {
	bin := r.Series.Width
	late = bins(r.Plan.Service, bin)
	return max(bins(recoveryWindow, bin), 2*late), late
}

// maxBins is more bins than a run has.
const maxBins = 1 << 28

// bins is how many bins cover d, at most maxBins.
func bins(d, width time.Duration) int {
	n := int64(max(d, 0) / width)
	if d > time.Duration(n)*width {
		n++
	}
	return int(min(n, maxBins))
}
