package live

import (
	"slices"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/strategies"
)

// line is the queue before one pool: first come, first served, with one timer
// for its head. Units are charged when somebody is admitted, so a waiter that
// leaves costs nothing. It is guarded by Everyone.mu.
type line struct {
	spec    strategies.PoolSpec
	t       *Transport // whose memory the pool has
	waiting []place
	timer   clockwork.Timer
}

// place is a call in a line, and how many units it waits for.
type place struct {
	c *caller
	n uint32
}

// tryTake takes n units, whoever waits.
func (l *line) tryTake(now time.Duration, n uint32) (bool, time.Duration) {
	return l.spec.Pool.TryTake(now, l.t.words(l.spec.Scope)[l.spec.At:], n)
}

// acquire takes n units for c at once, or puts it in line.
func (l *line) acquire(now time.Duration, c *caller, n uint32) bool {
	var ready time.Duration
	if len(l.waiting) == 0 {
		ok, at := l.tryTake(now, n)
		if ok {
			return true
		}
		ready = at
	}
	l.waiting = append(l.waiting, place{c, n})
	c.line = l
	if len(l.waiting) == 1 {
		l.arm(now, ready)
	}
	return false
}

// arm sets the timer of the head.
func (l *line) arm(now, ready time.Duration) {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if ready == strategies.Never {
		return
	}
	e := l.t.everyone
	var mine clockwork.Timer
	mine = l.t.clock.AfterFunc(max(ready-now, 1), func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if l.timer == mine { // nobody has set another since
			l.timer = nil
			l.admit(l.t.now())
		}
	})
	l.timer = mine
}

// admit lets in who stands at the head, as far as units go.
func (l *line) admit(now time.Duration) {
	for len(l.waiting) > 0 {
		p := l.waiting[0]
		ok, ready := l.tryTake(now, p.n)
		if !ok {
			l.arm(now, ready)
			return
		}
		l.waiting = slices.Delete(l.waiting, 0, 1)
		p.c.line = nil
		p.c.post(letter{kind: strategies.Admitted})
	}
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// leave takes c out of the line it stands in.
func (c *caller) leave(now time.Duration) {
	l := c.line
	if l == nil {
		return
	}
	c.line = nil
	i := slices.IndexFunc(l.waiting, func(p place) bool { return p.c == c })
	l.waiting = slices.Delete(l.waiting, i, i+1)
	if i == 0 {
		l.admit(now)
	}
}

// TryTake implements strategies.Pools for the call under decision.
func (c *caller) TryTake(_ *strategies.Call, take strategies.Take) bool {
	l := c.t.lines[take.Pool]
	if len(l.waiting) > 0 {
		return false
	}
	ok, _ := l.tryTake(c.at, take.N)
	return ok
}
