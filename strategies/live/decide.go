package live

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// step tells the strategy what happened and does what it decides, until there is
// something to wait for.
func (c *caller) step(e strategies.Event) {
	for !c.over {
		d, granted := c.decide(e)
		switch d.Kind {
		case strategies.Send:
			a := c.send(d.After)
			if a == nil {
				return
			}
			if !c.t.program.WantsSent {
				return
			}
			e = strategies.Event{Kind: strategies.Sent, Attempt: a.number}
			continue
		case strategies.Acquire, strategies.Join:
			if !granted {
				return
			}
			e = strategies.Event{Kind: strategies.Admitted}
			continue
		case strategies.Abandon:
			a := c.attempt(d.Take.N)
			if a == nil {
				c.fail(errNothingToDo)
				return
			}
			c.land(a)
			a.giveUp()
			e = strategies.Event{Kind: strategies.Settled, Attempt: d.Take.N, Outcome: &cancelled, SentAt: a.sentAt}
			continue
		case strategies.Wait:
			c.setTimer(max(d.After, 0))
		case strategies.Answer, strategies.Stop:
			c.over, c.end = true, d
		case strategies.Idle:
			if c.idle() {
				c.fail(errNothingToDo)
			}
		}
		return
	}
}

// decide asks the strategy under the lock, and grants at once what can be.
func (c *caller) decide(e strategies.Event) (d strategies.Decision, granted bool) {
	t := c.t
	t.everyone.mu.Lock()
	defer t.everyone.mu.Unlock()
	d = c.next(e)
	switch d.Kind {
	case strategies.Acquire:
		granted = t.lines[d.Take.Pool].acquire(c.at, c, d.Take.N)
	case strategies.Join:
		granted = c.join(d.Take)
	case strategies.Answer, strategies.Stop:
		c.leave(c.at)
		c.unfollow()
	}
	if granted {
		c.call.Turn-- // what is granted at once is no turn
	}
	return d, granted
}

// told tells the strategy of a call that is over what happened still.
func (c *caller) told(e strategies.Event) {
	c.t.everyone.mu.Lock()
	defer c.t.everyone.mu.Unlock()
	c.next(e)
}

// next is one decision, with Everyone.mu held.
func (c *caller) next(e strategies.Event) strategies.Decision {
	t, v := c.t, &c.call
	c.at, c.event = t.now(), e
	v.Memory[strategies.PerEveryone] = t.everyone.memory()
	d := t.program.Root.Next(c.at, v, e)
	v.Turn++
	if d.Kind == strategies.Send && !c.over {
		v.Turn = 0
	}
	if v.HasAsides() {
		v.TakeAsides(c)
	}
	return d
}

// Leave implements strategies.Asides.
func (c *caller) Leave() { c.leave(c.at) }

// Put implements strategies.Asides. Who waits is admitted at once: its own
// goroutine goes on from there.
func (c *caller) Put(p strategies.PoolID, n uint32) {
	l := c.t.lines[p]
	l.spec.Pool.Put(c.at, c.t.words(l.spec.Scope)[l.spec.At:], n)
	l.admit(c.at)
}

// HangUp implements strategies.Asides.
func (c *caller) HangUp(attempt uint32) {
	if a := c.attempt(attempt); a != nil {
		c.land(a)
		a.gone = true
		a.cancel()
	}
}

// WakeAt implements strategies.Asides.
func (c *caller) WakeAt(at time.Duration) {
	if !c.over {
		c.setTimer(max(at-c.at, 0))
	}
}

// Raise implements strategies.Asides.
func (c *caller) Raise(s strategies.Signal) {
	if r := c.t.cfg.Recorder; r != nil {
		r.Signal(c.t.program.Signals[s])
	}
}

// setTimer sets the call's one timer.
func (c *caller) setTimer(d time.Duration) {
	c.stopTimer()
	c.wakeAt = c.at + d
	c.timer = c.t.clock.NewTimer(d)
}

func (c *caller) stopTimer() {
	if c.wakeAt >= 0 {
		c.timer.Stop()
		c.wakeAt = -1
	}
}

// idle reports whether nothing will happen to the call any more.
func (c *caller) idle() bool {
	c.t.everyone.mu.Lock()
	defer c.t.everyone.mu.Unlock()
	return len(c.flying) == 0 && c.wakeAt < 0 && c.line == nil && c.flight == nil && len(c.inbox) == 0
}

// fail ends the call for a mistake of the strategy or of the caller.
func (c *caller) fail(err error) {
	c.failure = err
	c.last.close()
	c.last = reply{}
	c.t.everyone.mu.Lock()
	c.leave(c.at)
	c.unfollow()
	c.t.everyone.mu.Unlock()
	c.over = true
	c.settleAll()
	c.told(strategies.Event{Kind: strategies.Cancelled})
	c.end = strategies.Decision{Kind: strategies.Stop, End: strategies.End{Reason: strategies.Failed, Class: wire.BadRequest}}
}
