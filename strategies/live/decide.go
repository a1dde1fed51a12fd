package live

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// step passes e to the strategy and carries out its decisions until the call has
// to wait for an event or is over.
func (c *callRun) step(e strategies.Event) {
	for !c.over {
		d, granted := c.decide(e)
		if c.decisionErr != nil {
			c.fail(c.decisionErr)
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
				c.fail(mistake(strategies.ErrNotInFlight(d.Take.N)))
				return
			}
			c.removeAttempt(a)
			a.abandon()
			e = strategies.Event{Kind: strategies.Settled, Attempt: d.Take.N, Outcome: &cancelled, SentAt: a.sentAt}
			continue
		case strategies.Wait:
			c.setTimer(max(d.After, 0))
		case strategies.Answer, strategies.Stop:
			c.over, c.end = true, d
		case strategies.Idle:
			if c.idle() {
				c.fail(mistake(strategies.ErrNothingToDo))
			}
		default:
			c.fail(mistake(strategies.ErrUnknownDecision(d)))
		}
		return
	}
}

// decide returns the decision on e, and whether what it acquires or joins is granted.
func (c *callRun) decide(e strategies.Event) (strategies.Decision, bool) {
	d, granted := c.decideLocked(e)
	c.recordSignals()
	return d, granted
}

// report passes e to the strategy of a finished call.
func (c *callRun) report(e strategies.Event) strategies.Decision {
	d, _ := c.decideLocked(e)
	c.recordSignals()
	return d
}

// decideLocked makes one decision and updates queues and flights, under the lock.
func (c *callRun) decideLocked(e strategies.Event) (d strategies.Decision, granted bool) {
	t := c.t
	t.shared.mu.Lock()
	defer t.shared.mu.Unlock()
	d = c.next(e)
	if !c.finished() {
		switch d.Kind {
		case strategies.Acquire:
			granted = c.acquire(d.Take)
		case strategies.Join:
			granted = c.join(d.Take)
		case strategies.Answer, strategies.Stop:
			c.leaveQueue()
			c.leaveFlight()
		}
	}
	if granted {
		c.call.Driver().Turn-- // turns count events, and this Admitted is none
	}
	c.admitWaiting()
	return d, granted
}

// next returns the strategy's decision on e. Shared.mu must be held.
func (c *callRun) next(e strategies.Event) strategies.Decision {
	t, v := c.t, &c.call
	c.at, c.event = t.now(), e
	v.Driver().Memory[strategies.PerEveryone] = t.shared.memory()
	d := t.program.Root.Next(c.at, v, e)
	v.Driver().Turn++
	if d.Kind == strategies.Send && !c.finished() {
		v.Driver().Turn = 0
	}
	if v.HasCommands() {
		v.TakeCommands(c)
	}
	return d
}

// finished reports whether decisions have no effect any more: the call is over,
// or the caller reads its stream.
func (c *callRun) finished() bool { return c.over || c.streaming }

// Leave implements strategies.Commands.
func (c *callRun) Leave() { c.leaveQueue() }

// Put implements strategies.Commands.
func (c *callRun) Put(p strategies.PoolID, n uint32) {
	l := c.t.queues[p]
	l.put(c.at, n)
	c.toAdmit = append(c.toAdmit, l)
}

// admitWaiting admits the calls that wait in the queues that the decision has
// changed. They continue on their own goroutines.
func (c *callRun) admitWaiting() {
	for i, l := range c.toAdmit {
		l.admit(c.at)
		c.toAdmit[i] = nil
	}
	c.toAdmit = c.toAdmit[:0]
}

// HangUp implements strategies.Commands.
func (c *callRun) HangUp(attempt uint32) {
	if a := c.attempt(attempt); a != nil {
		c.removeAttempt(a)
		a.abandoned = true
		a.end()
	}
}

// WakeAt implements strategies.Commands.
func (c *callRun) WakeAt(at time.Duration) {
	if !c.finished() {
		c.setTimer(max(at-c.at, 0))
	}
}

// Raise implements strategies.Commands.
func (c *callRun) Raise(s strategies.Signal) {
	if c.t.cfg.Recorder != nil {
		c.signals = append(c.signals, s)
	}
}

// recordSignals passes the signals of a decision to the recorder.
func (c *callRun) recordSignals() {
	if len(c.signals) == 0 {
		return
	}
	all := c.signals
	c.signals = c.signals[:0]
	for _, s := range all {
		c.t.cfg.Recorder.Signal(c.t.program.Signals[s])
	}
}

// setTimer sets the call's timer. An overflow means never.
func (c *callRun) setTimer(d time.Duration) {
	c.stopTimer()
	if c.wakeAt = c.at + d; c.wakeAt < 0 {
		c.wakeAt = strategies.Never
	}
	c.timer = c.t.clock.NewTimer(d)
}

func (c *callRun) stopTimer() {
	if c.wakeAt >= 0 {
		c.timer.Stop()
		c.wakeAt, c.timerFired = -1, false
	}
}

// idle reports whether no event can happen to the call.
func (c *callRun) idle() bool {
	c.t.shared.mu.Lock()
	defer c.t.shared.mu.Unlock()
	return len(c.inFlight) == 0 && c.wakeAt < 0 && c.queue == nil && c.following == nil && len(c.inbox) == 0
}

// currentOutcome returns the outcome of the event of the current decision.
func (c *callRun) currentOutcome(end strategies.End) wire.Outcome {
	if c.event.Outcome != nil {
		return *c.event.Outcome
	}
	return wire.Outcome{Class: end.Class, RetryAfter: wire.NoHint}
}

// mistake returns the error of a mistake of the strategy.
func mistake(err error) error { return fmt.Errorf("live: the strategy %w", err) }
