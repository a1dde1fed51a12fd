package live

import (
	"container/list"
	"context"
	"net/http"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// callRun carries out one call at a time: it passes events to the strategy and
// executes its decisions. All methods run on the goroutine of RoundTrip, and
// later on the one that reads the stream. Other goroutines only post messages.
type callRun struct {
	t      *Transport
	call   strategies.Call
	memory []int64 // of scope call

	ctx    context.Context
	req    *http.Request
	body   body
	demand wire.Demand // what the caller's request asks for
	model  string      // the model in the caller's request, if known
	// parsed reports whether the request has been parsed for demand and model.
	parsed bool
	hash   requestHash // equal for equal requests; only if the strategy shares answers

	pieces sentPieces // of a strategy that splits
	// Of a strategy that merges:
	batch    *batch      // the batch that this call leads, once it is sent
	joinBody []byte      // the body to be joined with others; empty if it cannot be
	joinKey  requestHash // of all but the body; equal for the calls of a batch

	// Of the current decision:
	at            time.Duration
	event         strategies.Event
	joinedOutcome wire.Outcome        // the outcome of the leader that this call followed
	signals       []strategies.Signal // for the recorder, after the lock is released
	toAdmit       []*poolQueue        // queues that have changed
	decisionErr   error               // why the decision is invalid

	inFlight     []*attempt
	pending      *attempt      // the next thing that this goroutine does
	last         reply         // the latest reply, if it is not returned yet
	failure      error         // of the latest attempt without a reply
	lastActivity time.Duration // when the call began, or an attempt was last sent or ended

	timer      clockwork.Timer // of the latest Wait
	wakeAt     time.Duration   // when timer fires; -1 if it is not set
	timerFired bool            // and the strategy has not had the event yet
	over       bool
	end        strategies.Decision   // the last decision, if over
	stream     *attempt              // the attempt whose stream is the answer
	reader     *dialect.StreamReader // of stream
	streaming  bool                  // the caller reads the stream, and the callRun stays in use

	// Guarded by Shared.mu.
	queue      *poolQueue
	queued     *list.Element // the call's waiter in queue
	flight     *flight
	following  *list.Element // in flight.followers; nil for the leader
	batchIndex int           // in the leader's batch; 0 if it is not in one
	inbox      []message
	notify     chan struct{}
}

// message reports an event from another goroutine to a callRun.
type message struct {
	kind       strategies.EventKind
	attempt    *attempt
	outcome    wire.Outcome // of Joined: the leader's outcome
	end        strategies.End
	reply      reply
	reader     *dialect.StreamReader // of Head
	queue      *poolQueue            // of Admitted: units were taken from its pool; nil if the call now leads its flight
	units      uint32                // of Admitted: the number taken
	err        error                 // of Joined: the leader's error
	panicValue any                   // the value if the attempt panicked
}

func newCallRun(t *Transport) *callRun {
	c := &callRun{t: t, memory: make([]int64, t.program.Words[strategies.PerCall]), notify: make(chan struct{}, 1)}
	c.call.Driver().Pools, c.call.Driver().Scripts, c.call.Row = c, &t.scripts, noRow
	return c
}

// post appends m to the inbox. Shared.mu must be held.
func (c *callRun) post(m message) {
	c.inbox = append(c.inbox, m)
	c.notifyIfPending()
}

// notifyIfPending signals that the inbox is not empty. Shared.mu must be held.
func (c *callRun) notifyIfPending() {
	if len(c.inbox) == 0 {
		return
	}
	select {
	case c.notify <- struct{}{}:
	default:
	}
}

// receive removes the first message from the inbox and returns it.
func (c *callRun) receive() (message, bool) {
	c.t.shared.mu.Lock()
	defer c.t.shared.mu.Unlock()
	if len(c.inbox) == 0 {
		return message{}, false
	}
	m := c.inbox[0]
	c.removeMessage(0)
	return m, true
}

// removeMessage removes message i from the inbox. Shared.mu must be held.
func (c *callRun) removeMessage(i int) {
	n := len(c.inbox) - 1
	copy(c.inbox[i:], c.inbox[i+1:])
	c.inbox[n] = message{}
	c.inbox = c.inbox[:n]
}

// run makes a call of req. If held is true, c stays in use until the stream of resp
// has ended.
func (c *callRun) run(req *http.Request) (resp *http.Response, held bool, err error) {
	if err := c.begin(req); err != nil {
		c.body.close()
		return nil, false, err
	}
	for {
		c.step(strategies.Event{Kind: strategies.Begin})
		for !c.over && c.stream == nil {
			switch a := c.pending; {
			case a == nil:
				c.wait()
			case c.ctx.Err() != nil:
				c.cancel()
			default:
				c.pending = nil
				c.handleAttempt(a, a.roundTrip())
			}
		}
		if c.stream != nil && (!c.over || c.end.End.Class == wire.OK) {
			return c.returnStream(), true, nil
		}
		c.stopTimer()
		c.abandonAttempts()
		if !c.answerEvicted() {
			resp, err = c.result()
			return resp, false, err
		}
		c.restart()
	}
}

// wait blocks until an event and passes it to the strategy. Of simultaneous
// events, messages come first and the timer last, as in the simulator.
func (c *callRun) wait() {
	rung := false
	if !c.timerFired {
		var due <-chan time.Time
		if c.wakeAt >= 0 {
			due = c.timer.Chan()
		}
		select {
		case <-c.notify:
			rung = true
		case <-due:
			c.timerFired = true
		case <-c.ctx.Done():
		}
	}
	if !rung {
		select {
		case <-c.notify:
			rung = true
		default:
		}
	}
	switch {
	case rung:
		c.handleMessages()
	case c.ctx.Err() != nil:
		c.cancel()
	default:
		c.timerFired, c.wakeAt = false, -1
		c.step(strategies.Event{Kind: strategies.Wake})
	}
}

// handleMessages handles messages until the inbox is empty or the call goes on.
func (c *callRun) handleMessages() {
	for !c.over && c.stream == nil && c.pending == nil {
		m, ok := c.receive()
		if !ok {
			return
		}
		c.handleMessage(m)
	}
	c.t.shared.mu.Lock()
	defer c.t.shared.mu.Unlock()
	c.notifyIfPending() // for messages that are left
}

// handleMessage passes the event of m to the strategy.
func (c *callRun) handleMessage(m message) {
	switch m.kind {
	case strategies.Reply, strategies.Head:
		c.handleAttempt(m.attempt, m)
	case strategies.Joined:
		c.last.close()
		c.last, c.failure = m.reply, m.err
		c.call.Joined, c.joinedOutcome = m.end, m.outcome
		c.step(strategies.Event{Kind: m.kind, Outcome: &c.joinedOutcome})
	default:
		c.step(strategies.Event{Kind: m.kind})
	}
}

// handleAttempt passes the end of an attempt, or the head of its stream, to the
// strategy.
func (c *callRun) handleAttempt(a *attempt, m message) {
	if m.panicValue != nil {
		panic(m.panicValue)
	}
	if c.attempt(a.number) != a {
		m.reply.close() // the attempt has been abandoned
		return
	}
	if m.kind == strategies.Head {
		c.last.close()
		c.stream, c.reader, c.last = a, m.reader, m.reply
		c.step(strategies.Event{Kind: strategies.Head, Attempt: a.number, Outcome: &a.outcome, SentAt: a.sentAt})
		if c.stream == nil { // the strategy abandoned it
			c.last.close()
		}
		return
	}
	if m.reply.resp == nil && c.ctx.Err() != nil {
		c.cancel() // the error is due to the caller's context
		return
	}
	c.removeAttempt(a)
	kind := strategies.Reply
	c.last.close()
	if c.last = m.reply; m.reply.resp == nil {
		c.failure = a.err
		if kind = strategies.Lost; a.outcome.Class == wire.Timeout {
			kind = strategies.Expired
		}
	}
	c.step(strategies.Event{Kind: kind, Attempt: a.number, Outcome: &a.outcome, SentAt: a.sentAt})
}

// removeAttempt removes a from the attempts in flight.
func (c *callRun) removeAttempt(a *attempt) {
	for i, other := range c.inFlight {
		if other != a {
			continue
		}
		copy(c.inFlight[i:], c.inFlight[i+1:])
		c.inFlight[len(c.inFlight)-1] = nil
		c.inFlight = c.inFlight[:len(c.inFlight)-1]
		c.call.InFlight--
		if c.t.cfg.Recorder != nil {
			c.lastActivity = c.t.now()
		}
		if c.stream == a {
			c.stream, c.reader = nil, nil
		}
		if c.pending == a {
			c.pending = nil
		}
		return
	}
}
