package live

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// caller makes one call at a time: it tells the strategy what happens and does
// what that decides. Its own goroutine is the one of RoundTrip, and after that
// the one that reads the stream; others only post letters.
type caller struct {
	t    *Transport
	call strategies.Call
	own  []int64 // the words of the call

	ctx   context.Context
	req   *http.Request
	body  body
	asked wire.Demand // what the request asks for, as it came
	model string      // and of whom, if known

	// Of the decision being made.
	at    time.Duration
	event strategies.Event

	flying  []*attempt
	pending *attempt // to be sent by this goroutine, before anything else
	last    reply    // the latest reply that nobody has taken
	failure error    // how the latest attempt without a reply failed

	timer   clockwork.Timer // of a Wait
	wakeAt  time.Duration   // when it is due; -1 for none
	over    bool
	end     strategies.Decision // how it is over
	stream  *attempt            // whose head has arrived, and is the answer
	holding bool                // a stream that is still read keeps the caller

	// Guarded by Everyone.mu.
	line   *line
	flight *flight
	inbox  []letter
	bell   chan struct{}
}

// letter is something that happens to a call by another goroutine's doing.
type letter struct {
	kind    strategies.EventKind
	attempt *attempt
	outcome wire.Outcome
	end     strategies.End
	reply   reply
}

func newCaller(t *Transport) *caller {
	c := &caller{t: t, own: make([]int64, t.program.Words[strategies.PerCall]), bell: make(chan struct{}, 1)}
	c.call.Pools, c.call.Scripts = c, &t.scripts
	return c
}

// post puts a letter into the inbox, with Everyone.mu held.
func (c *caller) post(l letter) {
	c.inbox = append(c.inbox, l)
	select {
	case c.bell <- struct{}{}:
	default:
	}
}

// collect takes the first letter.
func (c *caller) collect() (letter, bool) {
	c.t.everyone.mu.Lock()
	defer c.t.everyone.mu.Unlock()
	if len(c.inbox) == 0 {
		return letter{}, false
	}
	l := c.inbox[0]
	c.inbox = c.inbox[1:]
	return l, true
}

// run makes a call of req.
func (c *caller) run(req *http.Request) (*http.Response, error) {
	c.begin(req)
	c.step(strategies.Event{Kind: strategies.Begin})
	for !c.over && c.stream == nil {
		if a := c.pending; a != nil {
			c.pending = nil
			c.hear(a, a.carry())
			continue
		}
		c.wait()
	}
	if c.stream != nil {
		return c.handOver(), nil
	}
	return c.finish()
}

// begin readies c for a call of req.
func (c *caller) begin(req *http.Request) {
	t := c.t
	c.ctx, c.req = req.Context(), req
	c.body = takeBody(req, t.cfg.MaxBody)
	clear(c.own)
	c.wakeAt, c.over, c.stream, c.failure = -1, false, nil, nil
	c.asked = c.demand()
	t.everyone.mu.Lock()
	defer t.everyone.mu.Unlock()
	c.call.ID, c.call.Row = t.next, t.row()
	t.next++
	c.call.Attempts, c.call.InFlight, c.call.Phase, c.call.Turn = 0, 0, 0, 0
	c.call.Born, c.call.Demand, c.call.Target = t.now(), c.asked, wire.Target{}
	c.call.Rand = t.rand
	c.call.Memory[strategies.PerCall] = c.own
	c.call.Memory[strategies.PerClient], c.call.Memory[strategies.PerFleet] = t.client, t.fleet
}

// wait blocks until something happens, and tells the strategy.
func (c *caller) wait() {
	var due <-chan time.Time
	if c.wakeAt >= 0 {
		due = c.timer.Chan()
	}
	select {
	case <-c.bell:
		for !c.over && c.stream == nil && c.pending == nil {
			l, ok := c.collect()
			if !ok {
				return
			}
			c.open(l)
		}
		c.ring()
	case <-due:
		c.wakeAt = -1
		c.step(strategies.Event{Kind: strategies.Wake})
	case <-c.ctx.Done():
		c.withdraw()
	}
}

// ring rings the bell if letters are left for later.
func (c *caller) ring() {
	c.t.everyone.mu.Lock()
	defer c.t.everyone.mu.Unlock()
	if len(c.inbox) > 0 {
		select {
		case c.bell <- struct{}{}:
		default:
		}
	}
}

// open tells the strategy what a letter says.
func (c *caller) open(l letter) {
	switch l.kind {
	case strategies.Reply, strategies.Head:
		c.hear(l.attempt, l)
	case strategies.Joined:
		c.last.close()
		c.last = l.reply
		c.call.Joined = l.end
		c.step(strategies.Event{Kind: l.kind, Outcome: &l.outcome})
	default:
		c.step(strategies.Event{Kind: l.kind})
	}
}

// hear tells the strategy how an attempt ended, or that its answer has begun.
func (c *caller) hear(a *attempt, l letter) {
	if l.kind == strategies.Head {
		c.last.close()
		c.stream, c.last = a, l.reply
		c.step(strategies.Event{Kind: strategies.Head, Attempt: a.number, Outcome: &l.outcome, SentAt: a.sentAt})
		return
	}
	if !c.land(a) {
		l.reply.close() // it was given up meanwhile
		return
	}
	switch {
	case l.reply.resp != nil:
		c.last.close()
		c.last, c.failure = l.reply, nil
		c.step(strategies.Event{Kind: strategies.Reply, Attempt: a.number, Outcome: &l.outcome, SentAt: a.sentAt})
	case c.ctx.Err() != nil:
		c.flying = append(c.flying, a) // the caller hung up, not the provider
		c.call.InFlight++
		c.withdraw()
	default:
		c.last.close() // it is not the last word any more
		c.failure = a.err
		kind := strategies.Lost
		if l.outcome.Class == wire.Timeout {
			kind = strategies.Expired
		}
		c.step(strategies.Event{Kind: kind, Attempt: a.number, Outcome: &l.outcome, SentAt: a.sentAt})
	}
}

// land takes a from the attempts in flight; false if it is not among them.
func (c *caller) land(a *attempt) bool {
	for i, other := range c.flying {
		if other == a {
			c.flying = append(c.flying[:i], c.flying[i+1:]...)
			c.call.InFlight--
			return true
		}
	}
	return false
}

// withdraw ends the call because its caller has gone: the strategy hears of each
// attempt that is given up, and that the call is cancelled.
func (c *caller) withdraw() {
	c.t.everyone.mu.Lock()
	now := c.t.now()
	c.leave(now)
	c.unfollow()
	c.over = true
	c.t.everyone.mu.Unlock()
	for {
		l, ok := c.collect() // an admission that came too late has its units
		if !ok {
			break
		}
		if l.kind == strategies.Admitted {
			c.told(strategies.Event{Kind: strategies.Admitted})
		}
		l.reply.close()
	}
	c.settleAll()
	c.told(strategies.Event{Kind: strategies.Cancelled})
	c.end = strategies.Decision{Kind: strategies.Stop, End: strategies.End{Reason: strategies.Withdrawn, Class: wire.Cancelled}}
}

// settleAll gives up the attempts in flight.
func (c *caller) settleAll() {
	for len(c.flying) > 0 {
		a := c.flying[len(c.flying)-1]
		c.land(a)
		a.giveUp()
		c.told(strategies.Event{Kind: strategies.Settled, Attempt: a.number, Outcome: &cancelled, SentAt: a.sentAt})
	}
}

// free ends a call and reports whether the caller can make another.
func (c *caller) free() bool {
	if c.holding {
		return false
	}
	c.t.everyone.mu.Lock()
	c.t.freeRow = append(c.t.freeRow, c.call.Row)
	c.inbox = c.inbox[:0]
	select {
	case <-c.bell:
	default:
	}
	c.t.everyone.mu.Unlock()
	c.ctx, c.req, c.body, c.last, c.pending = nil, nil, body{}, reply{}, nil
	return true
}

// finish returns what the call has come to.
func (c *caller) finish() (*http.Response, error) {
	c.stopTimer()
	c.settleAll()
	c.body.close()
	c.record()
	e := c.end.End
	switch {
	case c.end.Kind == strategies.Answer:
		if r, ok := c.t.recall(c.asked.Prompt); ok {
			c.last.close()
			return r.response(c.req), nil
		}
	case e.Class == wire.Cancelled && c.ctx.Err() != nil:
		c.last.close()
		return nil, context.Cause(c.ctx)
	case c.last.resp != nil:
		if e.Class == wire.OK && c.t.program.Remembers {
			c.t.keep(c.asked.Prompt, &c.last)
		}
		return c.last.response(c.req), nil
	}
	return nil, &Error{Reason: e.Reason, Class: e.Class, Attempts: c.call.Attempts, Err: c.failure}
}

// errNothingToDo is a strategy's mistake.
var errNothingToDo = errors.New("live: the strategy has nothing to do for a call of which nothing is under way; it must send, wait, acquire, join, answer or stop")
