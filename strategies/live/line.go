package live

import (
	"container/list"
	"fmt"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/strategies"
)

// line is the queue before one pool: first come, first served, with one timer
// for its head. Units are charged when somebody is admitted, so a waiter that
// leaves costs nothing. It is guarded by Everyone.mu.
type line struct {
	spec    strategies.PoolSpec
	t       *Transport // whose memory the pool has, or everyone's
	waiting list.List  // of places, first come first
	timer   clockwork.Timer
}

// place is a call in a line, and how many units it waits for.
type place struct {
	c *caller
	n uint32
}

// memory is the pool's.
func (l *line) memory() []int64 { return l.t.words(l.spec.Scope)[l.spec.At:] }

// tryTake takes n units, whoever waits.
func (l *line) tryTake(now time.Duration, n uint32) (bool, time.Duration) {
	return l.spec.Pool.TryTake(now, l.memory(), n)
}

// put gives n units back.
func (l *line) put(now time.Duration, n uint32) { l.spec.Pool.Put(now, l.memory(), n) }

// acquire takes units for c at once, or puts it in line.
func (c *caller) acquire(take strategies.Take) bool {
	if int(take.Pool) >= len(c.t.lines) {
		c.wrong = fmt.Errorf("live: the strategy acquires from pool %d, and has %d", take.Pool, len(c.t.lines))
		return false
	}
	if c.line != nil {
		c.wrong = errInLine
		return false
	}
	l := c.t.lines[take.Pool]
	var ready time.Duration
	if l.waiting.Len() == 0 {
		ok, at := l.tryTake(c.at, take.N)
		if ok {
			return true
		}
		ready = at
	}
	c.line, c.place = l, l.waiting.PushBack(place{c, take.N})
	if l.waiting.Len() == 1 {
		l.arm(c.at, ready)
	}
	return false
}

// disarm stops the timer of the head.
func (l *line) disarm() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// arm sets the timer of the head.
func (l *line) arm(now, ready time.Duration) {
	l.disarm()
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
	for l.waiting.Len() > 0 {
		head := l.waiting.Front()
		p := head.Value.(place)
		ok, ready := l.tryTake(now, p.n)
		if !ok {
			l.arm(now, ready)
			return
		}
		l.waiting.Remove(head)
		p.c.line, p.c.place = nil, nil
		p.c.post(letter{kind: strategies.Admitted, line: l, units: p.n})
	}
	l.disarm()
}

// leave takes c out of the line in which it stands. Units with which it was
// admitted, and of which it has not heard, go back.
func (c *caller) leave() {
	if l := c.line; l != nil {
		head := l.waiting.Front() == c.place
		l.waiting.Remove(c.place)
		c.line, c.place = nil, nil
		if head {
			l.disarm() // the timer was the leaver's
			c.look = append(c.look, l)
		}
		return
	}
	for i := range c.inbox {
		if l := c.inbox[i].line; l != nil {
			l.put(c.at, c.inbox[i].units)
			c.look = append(c.look, l)
			c.drop(i)
			return // a call stands in one line at a time
		}
	}
}

// TryTake implements strategies.Pools for the call under decision.
func (c *caller) TryTake(_ *strategies.Call, take strategies.Take) bool {
	l := c.t.lines[take.Pool]
	if l.waiting.Len() > 0 {
		return false
	}
	ok, _ := l.tryTake(c.at, take.N)
	return ok
}
