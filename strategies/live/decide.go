package live

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// step tells the strategy what happened and does what it decides, until there is
// something to wait for.
func (c *caller) step(e strategies.Event) {
	for !c.over {
		d, granted := c.decide(e)
		if c.wrong != nil {
			c.fail(c.wrong)
			return
		}
		switch d.Kind {
		case strategies.Send:
			a := c.send(d.After)
			if a == nil || !c.t.program.WantsSent {
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
				c.fail(fmt.Errorf("live: the strategy abandons attempt %d, which is not in flight", d.Take.N))
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
		default:
			c.fail(fmt.Errorf("live: the strategy decides %d, which is no decision", d.Kind))
		}
		return
	}
}

// decide asks the strategy, and grants at once what can be.
func (c *caller) decide(e strategies.Event) (strategies.Decision, bool) {
	d, granted := c.locked(e)
	c.raiseAll()
	return d, granted
}

// told tells the strategy of a call that is over what happened still.
func (c *caller) told(e strategies.Event) strategies.Decision {
	d, _ := c.locked(e)
	c.raiseAll()
	return d
}

// locked is one decision, made and booked under the lock.
func (c *caller) locked(e strategies.Event) (d strategies.Decision, granted bool) {
	t := c.t
	t.everyone.mu.Lock()
	defer t.everyone.mu.Unlock()
	d = c.next(e)
	if !c.decided() {
		switch d.Kind {
		case strategies.Acquire:
			granted = c.acquire(d.Take)
		case strategies.Join:
			granted = c.join(d.Take)
		case strategies.Answer, strategies.Stop:
			c.leave()
			c.quit()
		}
	}
	if granted {
		c.call.Turn-- // what is granted at once is no turn
	}
	c.lookAround()
	return d, granted
}

// next is one decision, with Everyone.mu held.
func (c *caller) next(e strategies.Event) strategies.Decision {
	t, v := c.t, &c.call
	c.at, c.event = t.now(), e
	v.Memory[strategies.PerEveryone] = t.everyone.memory()
	d := t.program.Root.Next(c.at, v, e)
	v.Turn++
	if d.Kind == strategies.Send && !c.decided() {
		v.Turn = 0
	}
	if v.HasAsides() {
		v.TakeAsides(c)
	}
	return d
}

// decided reports whether the strategy is only told what happens: the call is over,
// or the caller has its stream.
func (c *caller) decided() bool { return c.over || c.holding }

// Leave implements strategies.Asides.
func (c *caller) Leave() { c.leave() }

// Put implements strategies.Asides.
func (c *caller) Put(p strategies.PoolID, n uint32) {
	l := c.t.lines[p]
	l.put(c.at, n)
	c.look = append(c.look, l)
}

// lookAround admits whoever stands in the lines that the decision has touched.
// Their own goroutines go on from there.
func (c *caller) lookAround() {
	for i, l := range c.look {
		l.admit(c.at)
		c.look[i] = nil
	}
	c.look = c.look[:0]
}

// HangUp implements strategies.Asides.
func (c *caller) HangUp(attempt uint32) {
	if a := c.attempt(attempt); a != nil {
		c.land(a)
		a.gone = true
		a.end()
	}
}

// WakeAt implements strategies.Asides.
func (c *caller) WakeAt(at time.Duration) {
	if !c.decided() {
		c.setTimer(max(at-c.at, 0))
	}
}

// Raise implements strategies.Asides.
func (c *caller) Raise(s strategies.Signal) {
	if c.t.cfg.Recorder != nil {
		c.raise = append(c.raise, s)
	}
}

// raiseAll tells the recorder of the signals of a decision.
func (c *caller) raiseAll() {
	if len(c.raise) == 0 {
		return
	}
	all := c.raise
	c.raise = c.raise[:0]
	for _, s := range all {
		c.t.cfg.Recorder.Signal(c.t.program.Signals[s])
	}
}

// setTimer sets the call's one timer; a sum that overflows is never.
func (c *caller) setTimer(d time.Duration) {
	c.stopTimer()
	if c.wakeAt = c.at + d; c.wakeAt < 0 {
		c.wakeAt = strategies.Never
	}
	c.timer = c.t.clock.NewTimer(d)
}

func (c *caller) stopTimer() {
	if c.wakeAt >= 0 {
		c.timer.Stop()
		c.wakeAt, c.fired = -1, false
	}
}

// idle reports whether nothing will happen to the call any more.
func (c *caller) idle() bool {
	c.t.everyone.mu.Lock()
	defer c.t.everyone.mu.Unlock()
	return len(c.flying) == 0 && c.wakeAt < 0 && c.line == nil && c.seat == nil && len(c.inbox) == 0
}

// outcomeNow is the outcome of the event that c decides on.
func (c *caller) outcomeNow(end strategies.End) wire.Outcome {
	if c.event.Outcome != nil {
		return *c.event.Outcome
	}
	return wire.Outcome{Class: end.Class, RetryAfter: wire.NoHint}
}

// errNothingToDo is a strategy's mistake.
var errNothingToDo = errors.New("live: the strategy has nothing to do for a call of which nothing is under way; it must send, wait, acquire, join, answer or stop")
