package metrics

import (
	"math"
	"time"
)

// recoveryClock measures the recovery after each end of a fault, and keeps the
// longest.
type recoveryClock struct {
	search recoverySearch
	ends   []faultEnd // in order
	next   int        // number of the first end that is not searched yet
	worst  time.Duration
	never  bool
}

// faultEnd is the end of a fault, and the time at which the next fault that refuses
// begins.
type faultEnd struct{ at, until time.Duration }

func newRecoveryClock(p *Plan) recoveryClock {
	c := recoveryClock{search: newRecoverySearch(p.Capacity, p.Service)}
	for _, end := range p.ends() {
		until := time.Duration(math.MaxInt64)
		for _, f := range p.faults() {
			if f.Refuses && f.From > end {
				until = min(until, f.From)
			}
		}
		c.ends = append(c.ends, faultEnd{end, until})
	}
	return c
}

// pass starts the searches from ends up to now, before which so many calls were
// waiting.
func (c *recoveryClock) pass(now time.Duration, waiting int64) {
	for !c.never && !c.search.searching && c.next < len(c.ends) && c.ends[c.next].at <= now {
		end := c.ends[c.next]
		c.next++
		c.search.start(end.at, end.until, waiting)
		if !c.search.advance(now) {
			c.note()
		}
	}
}

// note takes in the outcome of a search that is over. It goes on from the next end
// if that lies within what the search has seen.
func (c *recoveryClock) note() {
	s := &c.search
	if s.found < 0 {
		c.never = true
		return
	}
	c.worst = max(c.worst, s.found-s.from)
	for c.next < len(c.ends) && c.ends[c.next].at <= s.found {
		c.next++ // the same window is the first after this end too
	}
	if c.next < len(c.ends) && c.ends[c.next].at <= s.now {
		end := c.ends[c.next]
		c.next++
		s.from, s.until, s.found, s.searching = end.at, end.until, -1, true
	}
}

// before prepares for a call that begins or is settled at now, when so many are
// waiting, and reports whether the search wants to know of it.
func (c *recoveryClock) before(now time.Duration, waiting int64) bool {
	for {
		if c.next < len(c.ends) {
			c.pass(now, waiting)
		}
		if !c.search.searching {
			return false
		}
		if c.search.advance(now) {
			return true
		}
		if c.note(); c.never {
			return false
		}
	}
}

// idle reports whether there is nothing to search for at now.
func (c *recoveryClock) idle(now time.Duration) bool {
	return !c.search.searching && (c.next == len(c.ends) || now < c.ends[c.next].at)
}

// begun takes in a call that begins at now, when so many others are waiting.
func (c *recoveryClock) begun(now time.Duration, waiting int64) {
	if !c.idle(now) && c.before(now, waiting) {
		c.search.begun(now)
	}
}

// over takes in a call that is settled at now, when so many are waiting, it
// included.
func (c *recoveryClock) over(now, born time.Duration, useful bool, waiting int64) {
	if !c.idle(now) && c.before(now, waiting) {
		c.search.over(now, born, useful)
	}
}

// finish returns the longest recovery of a run that ended at end, or
// undefinedTime without an end of a fault, or neverTime if one of them did not come. byItself
// says that the run was not cut off and nothing was waiting at its end: it is quiet
// from then on.
func (c *recoveryClock) finish(end time.Duration, byItself bool, waiting int64) time.Duration {
	if len(c.ends) == 0 {
		return undefinedTime
	}
	if byItself { // far enough for a window after every end
		end = max(end, c.ends[len(c.ends)-1].at) + 2*c.search.width
	} else { // ends that the run does not reach
		for len(c.ends) > c.next && c.ends[len(c.ends)-1].at >= end {
			c.ends = c.ends[:len(c.ends)-1]
		}
	}
	if c.before(end, waiting) {
		if !c.search.look() {
			return neverTime
		}
		c.note()
	}
	switch {
	case c.never, c.search.searching:
		return neverTime
	case c.next == 0: // the run was cut off before a fault ended
		return neverTime
	}
	return c.worst
}
