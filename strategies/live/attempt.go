package live

import (
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// attempt is one request on the wire. It refers to no state of its call that
// later calls change, because it may outlive its call.
type attempt struct {
	c         *callRun
	t         *Transport
	call      uint64
	number    uint32
	target    wire.Target
	abandoned bool // its result is not used; guarded by Shared.mu
	req       *http.Request
	length    int64         // of the request's body; -1 if unknown
	sentAt    time.Duration // when it was sent
	waited    time.Duration // time without activity of the call before that
	model     string        // the requested model, for the recorder; "" if unknown
	err       error         // if there was no reply

	rewrite *rewrite     // nil if the caller's request is sent
	reply   wire.Reply   // the content of the reply
	outcome wire.Outcome // as the strategy's reader interprets it

	ctx     context.Context
	cancel  context.CancelFunc // nil if only the caller's context ends it
	timeout clockwork.Timer
}

// errTimeout is the context's cause when an attempt's own timeout has passed.
var errTimeout = errors.New("live: the attempt's timeout has passed")

// send starts an attempt: on a goroutine of its own if the strategy can decide
// while it is in flight, else on the caller's goroutine, as c.pending. If the
// request cannot be made, the call fails and send returns nil.
func (c *callRun) send(timeout time.Duration) *attempt {
	switch {
	case c.call.InFlight == math.MaxUint8: // the limit of the simulator, too
		c.fail(mistake(strategies.ErrTooManyInFlight(math.MaxUint8)))
		return nil
	case !c.body.ready():
		c.fail(errBody)
		return nil
	}
	a := &attempt{c: c, t: c.t, call: c.call.ID, target: c.call.Target, sentAt: c.at, waited: max(0, c.at-c.lastActivity), ctx: c.ctx}
	c.prepare(a)
	var end context.CancelCauseFunc
	if timeout > 0 || c.t.async() {
		a.ctx, end = context.WithCancelCause(c.ctx)
		a.cancel = func() { end(context.Canceled) }
	}
	var err error
	if a.req, err = c.request(a); err != nil {
		a.end()
		c.fail(err)
		return nil
	}
	a.length = a.req.ContentLength
	if a.length == 0 && !c.body.empty {
		a.length = -1
	}
	c.call.Attempts++
	c.call.InFlight++
	a.number, c.lastActivity = c.call.Attempts, c.at
	if a.model = c.model; a.target.Model > 0 {
		a.model = c.t.cfg.Models[a.target.Model]
	}
	if timeout > 0 {
		a.timeout = c.t.clock.AfterFunc(timeout, func() { end(errTimeout) })
	}
	c.inFlight = append(c.inFlight, a)
	if c.t.async() {
		go a.runAsync()
	} else {
		c.pending = a
	}
	return a
}

// async reports whether attempts run on goroutines of their own.
func (t *Transport) async() bool { return t.program.Races || t.program.WantsSent }

// runAsync makes the attempt on a goroutine of its own. A panic of the base is
// passed to the goroutine of the call.
func (a *attempt) runAsync() {
	m := message{kind: strategies.Reply, panicValue: "live: the base called runtime.Goexit"}
	defer func() {
		if m.panicValue != nil {
			if p := recover(); p != nil {
				m.panicValue = p
			}
		}
		m.attempt = a
		if !a.deliver(m) {
			m.reply.close()
		}
	}()
	m = a.roundTrip()
}

// deliver posts m unless the attempt is abandoned.
func (a *attempt) deliver(m message) bool {
	s := a.t.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if !a.abandoned {
		a.c.post(m)
	}
	return !a.abandoned
}

// attempt returns attempt n, or nil if it is not in flight.
func (c *callRun) attempt(n uint32) *attempt {
	for _, a := range c.inFlight {
		if a.number == n {
			return a
		}
	}
	return nil
}

// abandon ends an attempt whose result is not used.
func (a *attempt) abandon() {
	a.t.shared.mu.Lock()
	a.abandoned = true
	a.t.shared.mu.Unlock()
	a.end()
}

// end cancels the attempt's context and its timeout.
func (a *attempt) end() {
	if a.timeout != nil {
		a.timeout.Stop()
	}
	if a.cancel != nil {
		a.cancel()
	}
}

// roundTrip makes the attempt and reads the reply.
func (a *attempt) roundTrip() (m message) {
	done := false
	defer func() {
		if !done { // a panic
			m.reply.close()
			a.end()
		}
	}()
	var resp *http.Response
	var err error
	if a.rewrite == nil || a.rewrite.err == nil {
		resp, err = a.t.base.RoundTrip(a.req)
	}
	switch {
	case a.rewrite != nil && a.rewrite.err != nil:
		m = a.notSent()
	case err != nil:
		m = a.failed(err)
	case resp == nil:
		m = a.failed(errNoResponse)
	default:
		if resp.Request == nil {
			resp.Request = a.req
		}
		if m = a.read(resp); a.rewritten() {
			m = a.convertReply(m)
		}
	}
	switch {
	case m.kind == strategies.Head: // the attempt continues
	case m.reply.complete():
		a.end()
	default: // the outcome is known, but reading the body needs the context
		if a.timeout != nil {
			a.timeout.Stop()
		}
		m.reply.cancel = a.cancel
	}
	a.record(&m)
	done = true
	return m
}

// failed returns the message for an attempt without a reply.
func (a *attempt) failed(err error) message {
	a.err = err
	a.outcome = wire.Outcome{Class: a.classOf(err), RetryAfter: wire.NoHint}
	return message{kind: strategies.Reply}
}

// classOf returns the class of an attempt without a reply.
func (a *attempt) classOf(err error) wire.Class {
	var n net.Error
	switch {
	case context.Cause(a.ctx) == errTimeout:
		return wire.Timeout
	case a.ctx.Err() != nil:
		return wire.Cancelled
	case errors.As(err, &n) && n.Timeout():
		return wire.Timeout
	}
	return wire.ConnectionLost
}

var errNoResponse = errors.New("live: the base returned neither a response nor an error")
