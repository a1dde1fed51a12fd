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
	// understood says that the request has been read for the two.
	understood bool
	asks       identity // which requests are equal to it, where that matters

	document document // what a splitting strategy has sent of it
	cargo    *cargo   // what it asks for, once a merging strategy sends it; and what it brings to others:
	text     []byte   // its body, empty if none can be joined, and
	manner   identity // how it is asked, which they must share

	// Of the decision being made.
	at     time.Duration
	event  strategies.Event
	shared wire.Outcome        // what another call got, and this one has joined
	raise  []strategies.Signal // to be told when the lock is free
	look   []*line             // to be looked at once the decision is carried out
	wrong  error               // what is wrong with it

	flying     []*attempt
	pending    *attempt      // to be sent by this goroutine, before anything else
	last       reply         // the latest reply that nobody has taken
	failure    error         // how the latest attempt without a reply failed
	quietSince time.Duration // when an attempt was last sent or ended, or the call began

	timer   clockwork.Timer // of a Wait
	wakeAt  time.Duration   // when it is due; -1 for none
	fired   bool            // it was, and the strategy has not been told
	over    bool
	end     strategies.Decision // how it is over
	stream  *attempt            // whose head has arrived, and is the answer
	reader  *dialect.StreamReader
	holding bool // a stream that is still read keeps the caller

	// Guarded by Everyone.mu.
	line   *line
	place  *list.Element // in line
	flight *flight
	seat   *list.Element // among those who follow flight; nil if it leads
	berth  int           // among the calls for which the leader asks; 0 if none
	inbox  []letter
	bell   chan struct{}
}

// letter is something that happens to a call by another goroutine's doing.
type letter struct {
	kind     strategies.EventKind
	attempt  *attempt
	outcome  wire.Outcome // of a Joined: what the leader got, and
	end      strategies.End
	reply    reply
	reader   *dialect.StreamReader // of a Head
	line     *line                 // of an Admitted: whose units these are, and
	units    uint32                // how many; without a line the call leads its flight
	err      error                 // of a Joined: how the leader failed
	panicked any                   // what the attempt has panicked with
}

func newCaller(t *Transport) *caller {
	c := &caller{t: t, own: make([]int64, t.program.Words[strategies.PerCall]), bell: make(chan struct{}, 1)}
	c.call.Pools, c.call.Scripts, c.call.Row = c, &t.scripts, noRow
	return c
}

// post puts a letter into the inbox, with Everyone.mu held.
func (c *caller) post(l letter) {
	c.inbox = append(c.inbox, l)
	c.ring()
}

// ring rings the bell if there are letters, with Everyone.mu held.
func (c *caller) ring() {
	if len(c.inbox) == 0 {
		return
	}
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
	c.drop(0)
	return l, true
}

// drop takes letter i from the inbox, with Everyone.mu held.
func (c *caller) drop(i int) {
	n := len(c.inbox) - 1
	copy(c.inbox[i:], c.inbox[i+1:])
	c.inbox[n] = letter{}
	c.inbox = c.inbox[:n]
}

// run makes a call of req. It reports whether the caller belongs to who reads the
// response from now on.
func (c *caller) run(req *http.Request) (resp *http.Response, held bool, err error) {
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
				c.withdraw()
			default:
				c.pending = nil
				c.hear(a, a.carry())
			}
		}
		if c.stream != nil && (!c.over || c.end.End.Class == wire.OK) {
			return c.handOver(), true, nil
		}
		c.stopTimer()
		c.settleAll()
		if !c.forgotten() {
			resp, err = c.finish()
			return resp, false, err
		}
		c.restart()
	}
}

// wait blocks until something happens, and tells the strategy. Of what happens
// at once letters come first and the end of a wait last, as in the simulator.
func (c *caller) wait() {
	rung := false
	if !c.fired {
		var due <-chan time.Time
		if c.wakeAt >= 0 {
			due = c.timer.Chan()
		}
		select {
		case <-c.bell:
			rung = true
		case <-due:
			c.fired = true
		case <-c.ctx.Done():
		}
	}
	if !rung {
		select {
		case <-c.bell:
			rung = true
		default:
		}
	}
	switch {
	case rung:
		c.openAll()
	case c.ctx.Err() != nil:
		c.withdraw()
	default:
		c.fired, c.wakeAt = false, -1
		c.step(strategies.Event{Kind: strategies.Wake})
	}
}

// openAll opens letters as long as nothing else is to be done first.
func (c *caller) openAll() {
	for !c.over && c.stream == nil && c.pending == nil {
		l, ok := c.collect()
		if !ok {
			return
		}
		c.open(l)
	}
	c.t.everyone.mu.Lock()
	defer c.t.everyone.mu.Unlock()
	c.ring() // for those that are left
}

// open tells the strategy what a letter says.
func (c *caller) open(l letter) {
	switch l.kind {
	case strategies.Reply, strategies.Head:
		c.hear(l.attempt, l)
	case strategies.Joined:
		c.last.close()
		c.last, c.failure = l.reply, l.err
		c.call.Joined, c.shared = l.end, l.outcome
		c.step(strategies.Event{Kind: l.kind, Outcome: &c.shared})
	default:
		c.step(strategies.Event{Kind: l.kind})
	}
}

// hear tells the strategy how an attempt ended, or that its answer has begun.
func (c *caller) hear(a *attempt, l letter) {
	if l.panicked != nil {
		panic(l.panicked)
	}
	if c.attempt(a.number) != a {
		l.reply.close() // it was given up meanwhile
		return
	}
	if l.kind == strategies.Head {
		c.last.close()
		c.stream, c.reader, c.last = a, l.reader, l.reply
		c.step(strategies.Event{Kind: strategies.Head, Attempt: a.number, Outcome: &a.outcome, SentAt: a.sentAt})
		if c.stream == nil { // the strategy has hung up on it
			c.last.close()
		}
		return
	}
	if l.reply.resp == nil && c.ctx.Err() != nil {
		c.withdraw() // the caller hung up, not the provider
		return
	}
	c.land(a)
	kind := strategies.Reply
	c.last.close()
	if c.last = l.reply; l.reply.resp == nil {
		c.failure = a.err
		if kind = strategies.Lost; a.outcome.Class == wire.Timeout {
			kind = strategies.Expired
		}
	}
	c.step(strategies.Event{Kind: kind, Attempt: a.number, Outcome: &a.outcome, SentAt: a.sentAt})
}

// land takes a from the attempts in flight.
func (c *caller) land(a *attempt) {
	for i, other := range c.flying {
		if other != a {
			continue
		}
		copy(c.flying[i:], c.flying[i+1:])
		c.flying[len(c.flying)-1] = nil
		c.flying = c.flying[:len(c.flying)-1]
		c.call.InFlight--
		if c.t.cfg.Recorder != nil {
			c.quietSince = c.t.now()
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
