package live

import (
	"context"
	"errors"
	"net/http"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// begin prepares c for a call of req.
func (c *callRun) begin(req *http.Request) error {
	t := c.t
	c.ctx, c.req = req.Context(), req
	var err error
	if c.body, err = newBody(req, t.cfg.MaxBody); err != nil {
		if c.ctx.Err() != nil {
			err = context.Cause(c.ctx)
		}
		return err
	}
	c.demand = c.readDemand()
	if t.merges {
		c.joinBody, _ = c.body.all()
		c.joinKey = c.hashRequest(nil)
	}
	t.shared.mu.Lock()
	defer t.shared.mu.Unlock()
	c.reset()
	c.call.ID, c.call.Row = t.next, t.row()
	t.next++
	if t.closed {
		return ErrClosed
	}
	c.call.Born = t.now()
	c.lastActivity = c.call.Born
	c.call.Driver().Rand = t.rand
	c.call.Driver().Memory[strategies.PerCall] = c.memory
	c.call.Driver().Memory[strategies.PerClient], c.call.Driver().Memory[strategies.PerFleet] = t.client, t.fleet
	return nil
}

// reset sets the state of a call that has not begun.
func (c *callRun) reset() {
	clear(c.memory)
	c.wakeAt, c.timerFired, c.over, c.stream, c.failure, c.decisionErr = -1, false, false, nil, nil, nil
	c.end = strategies.Decision{}
	c.call.Attempts, c.call.InFlight, c.call.Driver().Phase, c.call.Driver().Turn = 0, 0, 0, 0
	c.call.Demand, c.call.Target = c.demand, wire.Target{}
}

// answerEvicted reports whether the strategy decides to answer from its cache,
// but the answer is not in the cache of the transport any more.
func (c *callRun) answerEvicted() bool {
	if c.end.Kind != strategies.Answer || c.demand.Prompt == 0 {
		return false
	}
	r, ok := c.t.cachedAnswer(&c.hash)
	if ok {
		c.last.close()
		c.last = r
	}
	return !ok
}

// restart begins the call again, without cache and flights.
func (c *callRun) restart() {
	c.last.close()
	c.demand.Prompt = 0
	c.reset()
}

// cancel ends the call because its context has ended: the strategy gets the end of
// each attempt in flight and that the call is cancelled.
func (c *callRun) cancel() {
	c.leaveAll(true)
	c.over = true
	c.abandonAttempts()
	c.report(strategies.Event{Kind: strategies.Cancelled})
	c.end = strategies.Decision{Kind: strategies.Stop, End: strategies.End{Reason: strategies.CallerCancelled, Class: wire.Cancelled}}
}

// fail ends the call with an error of the strategy or of the request.
func (c *callRun) fail(err error) {
	c.cancel()
	c.last.close()
	c.failure = err
	c.end.End = strategies.End{Reason: strategies.Failed, Class: wire.BadRequest}
}

// leaveAll removes c from its queue and its flight. If its answer cannot be
// shared, all followers are released.
func (c *callRun) leaveAll(shares bool) {
	s := c.t.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	c.at = c.t.now()
	if !shares {
		c.releaseFollowers()
	}
	c.leaveQueue()
	c.leaveFlight()
	c.admitWaiting()
}

// abandonAttempts abandons the attempts in flight, the latest first, except the
// stream that the caller reads.
func (c *callRun) abandonAttempts() {
	for i := len(c.inFlight) - 1; i >= 0; i = min(i, len(c.inFlight)) - 1 {
		a := c.inFlight[i]
		if a == c.stream && c.streaming {
			continue
		}
		c.removeAttempt(a)
		a.abandon()
		c.report(strategies.Event{Kind: strategies.Settled, Attempt: a.number, Outcome: &cancelled, SentAt: a.sentAt})
	}
}

// result returns the response or the error of a finished call.
func (c *callRun) result() (*http.Response, error) {
	c.body.close()
	c.record()
	e := c.end.End
	switch {
	case e.Class == wire.Cancelled && c.ctx.Err() != nil:
		c.last.close()
		return nil, context.Cause(c.ctx)
	case c.last.resp != nil:
		if e.Class == wire.OK && c.end.Kind == strategies.Stop && c.t.program.Remembers {
			c.t.cacheAnswer(&c.hash, c.demand.Prompt, &c.last)
		}
		return c.last.response(c.req), nil
	}
	return nil, &Error{Reason: e.Reason, Class: e.Class, Attempts: c.call.Attempts, Err: c.failure}
}

// release ends the use of c; it is used again only if reuse is true.
func (c *callRun) release(reuse bool) {
	t := c.t
	left := c.releaseRow()
	for i := range left {
		left[i].reply.close()
	}
	clear(left)
	c.ctx, c.req, c.body, c.last, c.pending, c.reader, c.failure, c.event = nil, nil, body{}, reply{}, nil, nil, nil, strategies.Event{}
	c.batch, c.joinBody, c.pieces = nil, nil, sentPieces{}
	if reuse {
		t.runs.Put(c)
	}
}

// releaseRow frees the row of c and returns the messages that were not handled.
func (c *callRun) releaseRow() []message {
	t := c.t
	t.shared.mu.Lock()
	defer t.shared.mu.Unlock()
	if c.call.Row != noRow {
		t.freeRows = append(t.freeRows, c.call.Row)
		c.call.Row = noRow
	}
	if t.closed && len(t.freeRows) == int(t.rows) {
		t.scripts.Close() // this was the last call
	}
	left := c.inbox
	c.inbox = c.inbox[:0]
	select {
	case <-c.notify:
	default:
	}
	return left
}

// cleanUp ends a call after a panic and releases what the call holds. A further
// panic, of the strategy, is ignored.
func (c *callRun) cleanUp() {
	defer c.release(false)
	defer func() {
		_ = recover()
		for _, a := range c.inFlight {
			a.abandon()
		}
		c.stopTimer()
		c.last.close()
		c.body.close()
	}()
	if c.streaming = false; c.call.Row != noRow {
		c.cancel()
	}
}

// ErrClosed is returned for calls of a closed Transport.
var ErrClosed = errors.New("live: the transport has been closed")
