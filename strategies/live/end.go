package live

import (
	"context"
	"errors"
	"net/http"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// begin readies c for a call of req.
func (c *caller) begin(req *http.Request) error {
	t := c.t
	c.ctx, c.req = req.Context(), req
	var err error
	if c.body, err = takeBody(req, t.cfg.MaxBody); err != nil {
		if c.ctx.Err() != nil {
			err = context.Cause(c.ctx)
		}
		return err
	}
	c.asked = c.demand()
	if t.merges {
		c.text, _ = c.body.all()
		c.manner = c.identify(nil)
	}
	t.everyone.mu.Lock()
	defer t.everyone.mu.Unlock()
	c.reset()
	c.call.ID, c.call.Row = t.next, t.row()
	t.next++
	if t.closed {
		return ErrClosed
	}
	c.call.Born = t.now()
	c.quietSince = c.call.Born
	c.call.Rand = t.rand
	c.call.Memory[strategies.PerCall] = c.own
	c.call.Memory[strategies.PerClient], c.call.Memory[strategies.PerFleet] = t.client, t.fleet
	return nil
}

// reset has the strategy begin.
func (c *caller) reset() {
	clear(c.own)
	c.wakeAt, c.fired, c.over, c.stream, c.failure, c.wrong = -1, false, false, nil, nil, nil
	c.end = strategies.Decision{}
	c.call.Attempts, c.call.InFlight, c.call.Phase, c.call.Turn = 0, 0, 0, 0
	c.call.Demand, c.call.Target = c.asked, wire.Target{}
}

// forgotten reports whether the strategy gives an answer from memory that is not
// there any more: it knows of an answer by some words, which live longer.
func (c *caller) forgotten() bool {
	if c.end.Kind != strategies.Answer || c.asked.Prompt == 0 {
		return false
	}
	r, ok := c.t.recall(&c.asks)
	if ok {
		c.last.close()
		c.last = r
	}
	return !ok
}

// restart makes the call afresh, as one that is like no other.
func (c *caller) restart() {
	c.last.close()
	c.asked.Prompt = 0
	c.reset()
}

// withdraw ends the call because its caller has gone: the strategy hears of each
// attempt that is given up, and that the call is cancelled.
func (c *caller) withdraw() {
	c.depart(true)
	c.over = true
	c.settleAll()
	c.told(strategies.Event{Kind: strategies.Cancelled})
	c.end = strategies.Decision{Kind: strategies.Stop, End: strategies.End{Reason: strategies.Withdrawn, Class: wire.Cancelled}}
}

// fail ends the call for a mistake of the strategy or of the caller.
func (c *caller) fail(err error) {
	c.withdraw()
	c.last.close()
	c.failure = err
	c.end.End = strategies.End{Reason: strategies.Failed, Class: wire.BadRequest}
}

// depart takes c from wherever it waits with others. A call that has what cannot
// be shared lets go those who follow it.
func (c *caller) depart(shares bool) {
	e := c.t.everyone
	e.mu.Lock()
	defer e.mu.Unlock()
	c.at = c.t.now()
	if !shares {
		c.disband()
	}
	c.leave()
	c.quit()
	c.lookAround()
}

// settleAll gives up the attempts in flight, the latest first, but for the
// stream that the caller is to have.
func (c *caller) settleAll() {
	for i := len(c.flying) - 1; i >= 0; i = min(i, len(c.flying)) - 1 {
		a := c.flying[i]
		if a == c.stream && c.holding {
			continue
		}
		c.land(a)
		a.giveUp()
		c.told(strategies.Event{Kind: strategies.Settled, Attempt: a.number, Outcome: &cancelled, SentAt: a.sentAt})
	}
}

// finish returns what the call has come to.
func (c *caller) finish() (*http.Response, error) {
	c.body.close()
	c.record()
	e := c.end.End
	switch {
	case e.Class == wire.Cancelled && c.ctx.Err() != nil:
		c.last.close()
		return nil, context.Cause(c.ctx)
	case c.last.resp != nil:
		if e.Class == wire.OK && c.end.Kind == strategies.Stop && c.t.program.Remembers {
			c.t.keep(&c.asks, c.asked.Prompt, &c.last)
		}
		return c.last.response(c.req), nil
	}
	return nil, &Error{Reason: e.Reason, Class: e.Class, Attempts: c.call.Attempts, Err: c.failure}
}

// free ends a call, and lets the caller make another if it has come to its end
// as it should.
func (c *caller) free(well bool) {
	t := c.t
	left := c.empty()
	for i := range left {
		left[i].reply.close()
	}
	clear(left)
	c.ctx, c.req, c.body, c.last, c.pending, c.reader, c.failure, c.event = nil, nil, body{}, reply{}, nil, nil, nil, strategies.Event{}
	c.cargo, c.text, c.document = nil, nil, document{}
	if well {
		t.callers.Put(c)
	}
}

// empty gives c's row back, and returns the letters that were never opened.
func (c *caller) empty() []letter {
	t := c.t
	t.everyone.mu.Lock()
	defer t.everyone.mu.Unlock()
	if c.call.Row != noRow {
		t.freeRow = append(t.freeRow, c.call.Row)
		c.call.Row = noRow
	}
	if t.closed && len(t.freeRow) == int(t.rows) {
		t.scripts.Close() // the last to go
	}
	left := c.inbox
	c.inbox = c.inbox[:0]
	select {
	case <-c.bell:
	default:
	}
	return left
}

// abandon ends a call in the middle of which something has panicked: it gives
// back what the call holds, as far as the strategy still can. Another panic on
// the way tells nothing new.
func (c *caller) abandon() {
	defer c.free(false)
	defer func() {
		_ = recover()
		for _, a := range c.flying {
			a.giveUp()
		}
		c.stopTimer()
		c.last.close()
		c.body.close()
	}()
	if c.holding = false; c.call.Row != noRow {
		c.withdraw()
	}
}

// ErrClosed is why a Transport that has been closed makes no calls.
var ErrClosed = errors.New("live: the transport has been closed")
