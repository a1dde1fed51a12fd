package live

import (
	"container/list"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/strategies"
)

// poolQueue is the first-come-first-served queue of a pool, with one timer for
// its head. A call is charged when it is admitted, so a call that leaves the queue
// costs nothing. It is guarded by Shared.mu.
type poolQueue struct {
	spec    strategies.PoolSpec
	t       *Transport // the owner of the pool's memory
	waiting list.List  // of waiter, in order of arrival
	timer   clockwork.Timer
}

// waiter is a call in a queue and the number of units it waits for.
type waiter struct {
	run *callRun
	n   uint32
}

// memory returns the pool's memory.
func (q *poolQueue) memory() []int64 { return q.t.scopeMemory(q.spec.Scope)[q.spec.At:] }

// tryTake takes n units if the pool has them, regardless of the queue.
func (q *poolQueue) tryTake(now time.Duration, n uint32) (bool, time.Duration) {
	return q.spec.Pool.TryTake(now, q.memory(), n)
}

// put gives n units back.
func (q *poolQueue) put(now time.Duration, n uint32) { q.spec.Pool.Put(now, q.memory(), n) }

// acquire takes units for c if it need not wait, or adds c to the queue.
func (c *callRun) acquire(take strategies.Take) bool {
	if int(take.Pool) >= len(c.t.queues) {
		c.decisionErr = mistake(strategies.ErrUnknownPool(take.Pool, len(c.t.queues)))
		return false
	}
	if c.queue != nil {
		c.decisionErr = mistake(strategies.ErrQueued)
		return false
	}
	q := c.t.queues[take.Pool]
	var ready time.Duration
	if q.waiting.Len() == 0 {
		ok, at := q.tryTake(c.at, take.N)
		if ok {
			return true
		}
		ready = at
	}
	c.queue, c.queued = q, q.waiting.PushBack(waiter{c, take.N})
	if q.waiting.Len() == 1 {
		q.arm(c.at, ready)
	}
	return false
}

// disarm stops the timer of the head.
func (q *poolQueue) disarm() {
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
}

// arm sets the timer of the head.
func (q *poolQueue) arm(now, ready time.Duration) {
	q.disarm()
	if ready == strategies.Never {
		return
	}
	s := q.t.shared
	var mine clockwork.Timer
	mine = q.t.clock.AfterFunc(max(ready-now, 1), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if q.timer == mine { // it is still the current timer
			q.timer = nil
			q.admit(q.t.now())
		}
	})
	q.timer = mine
}

// admit admits waiting calls, in order, as far as the pool has units.
func (q *poolQueue) admit(now time.Duration) {
	for q.waiting.Len() > 0 {
		head := q.waiting.Front()
		p := head.Value.(waiter)
		ok, ready := q.tryTake(now, p.n)
		if !ok {
			q.arm(now, ready)
			return
		}
		q.waiting.Remove(head)
		p.run.queue, p.run.queued = nil, nil
		p.run.post(message{kind: strategies.Admitted, queue: q, units: p.n})
	}
	q.disarm()
}

// leaveQueue removes c from its queue. If c was admitted but has not processed
// the message yet, it gives the units back.
func (c *callRun) leaveQueue() {
	if q := c.queue; q != nil {
		head := q.waiting.Front() == c.queued
		q.waiting.Remove(c.queued)
		c.queue, c.queued = nil, nil
		if head {
			q.disarm() // it was the timer of c
			c.toAdmit = append(c.toAdmit, q)
		}
		return
	}
	for i := range c.inbox {
		if q := c.inbox[i].queue; q != nil {
			q.put(c.at, c.inbox[i].units)
			c.toAdmit = append(c.toAdmit, q)
			c.removeMessage(i)
			return // a call is in one queue at a time
		}
	}
}

// TryTake implements strategies.Pools for the current decision.
func (c *callRun) TryTake(_ *strategies.Call, take strategies.Take) bool {
	q := c.t.queues[take.Pool]
	if q.waiting.Len() > 0 {
		return false
	}
	ok, _ := q.tryTake(c.at, take.N)
	return ok
}
