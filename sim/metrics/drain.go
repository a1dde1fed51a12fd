package metrics

import (
	"slices"
	"time"
)

// drainClock measures how long it takes after each end of a fault until every call
// that had arrived by then is settled. Where more of them are lost than a bound
// allows, that never happens: a strategy does not drain a backlog by giving it up.
//
// In a one-shot fleet all calls belong to one crowd, also those that arrive after
// the last end, so that end counts for all of them. Without a fault the crowd is
// measured from the beginning of the run.
type drainClock struct {
	ends []time.Duration // when faults end, in order, without duplicates
	// pending counts the calls that are not settled, by the end before which they
	// arrived: those that arrived before ends[0], then those before ends[1], and so
	// on; the last count is of the calls that arrived after all ends.
	pending []uint64
	calls   []uint64 // all calls, and the lost ones, by the same groups
	lost    []uint64
	most    float64 // share of the calls that may be lost
	judged  int     // number of ends whose calls are settled one by one: not the last of a one-shot fleet
	over    int     // number of ends of which the calls are all settled
	worst   time.Duration
	last    time.Duration // when a call was last settled
	oneShot bool
}

func newDrainClock(ends []time.Duration, oneShot bool, minSuccess float64) drainClock {
	if oneShot && len(ends) == 0 {
		ends = []time.Duration{0}
	}
	n := len(ends) + 1
	d := drainClock{
		ends: ends, pending: make([]uint64, n), calls: make([]uint64, n), lost: make([]uint64, n),
		most: 1 - minSuccess, judged: len(ends), oneShot: oneShot,
	}
	if oneShot {
		d.judged--
	}
	return d
}

// group returns which of the counts a call belongs to.
func (d *drainClock) group(born time.Duration) int {
	if len(d.ends) == 1 { // the most frequent case
		if born < d.ends[0] {
			return 0
		}
		return 1
	}
	i, found := slices.BinarySearch(d.ends, born)
	if found {
		i++ // the call arrived at that end, not before it
	}
	return i
}

// began counts a call that arrives at now.
func (d *drainClock) began(now time.Duration) {
	if len(d.ends) == 0 {
		return // there is nothing to drain from
	}
	d.pass(now)
	g := d.group(now)
	d.pending[g]++
	d.calls[g]++
}

// settled counts a call that is over at now, answered usefully or not.
func (d *drainClock) settled(now, born time.Duration, useful bool) {
	d.last = now
	if len(d.ends) == 0 {
		return
	}
	d.pass(now)
	g := d.group(born)
	d.pending[g]--
	if !useful {
		d.lost[g]++
	}
	for d.over < d.judged && d.ends[d.over] <= now && d.pending[d.over] == 0 {
		d.worst = max(d.worst, now-d.ends[d.over])
		d.over++
	}
}

// pass skips the ends at which no call was pending.
func (d *drainClock) pass(now time.Duration) {
	for d.over < d.judged && d.ends[d.over] <= now && d.pending[d.over] == 0 {
		d.over++
	}
}

// finish returns the longest drain of a run that ended at end, or neverTime if
// a call that counts is not settled, or undefinedTime if there is nothing to drain from.
func (d *drainClock) finish(end time.Duration) time.Duration {
	switch {
	case len(d.ends) == 0:
		return undefinedTime
	case d.losesTooMany():
		return neverTime
	case d.oneShot && slices.Max(d.pending) > 0:
		return neverTime
	case d.oneShot:
		return max(d.worst, d.last-d.ends[d.judged], 0)
	}
	d.pass(end)
	if d.over < len(d.ends) && d.ends[d.over] <= end && d.pending[d.over] > 0 {
		return neverTime
	}
	if d.over == 0 && d.ends[0] > end && slices.Max(d.pending) > 0 {
		return neverTime // the run was cut off before the fault ended
	}
	return d.worst
}

// losesTooMany reports whether more calls than the bound allows are lost of those
// that arrived before one of the ends.
func (d *drainClock) losesTooMany() bool {
	var calls, lost uint64
	for i := range d.calls {
		calls += d.calls[i]
		lost += d.lost[i]
		// In a one-shot fleet the last end counts for the calls after it too.
		counts := i < d.judged || d.oneShot && i == len(d.ends)
		if counts && float64(lost) > float64(d.most*float64(calls)) {
			return true
		}
	}
	return false
}
