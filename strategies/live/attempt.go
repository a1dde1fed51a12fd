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

// attempt is one request on the wire. It has all that it takes to make and to
// record it, for it may outlive its call.
type attempt struct {
	c      *caller
	t      *Transport
	call   uint64
	number uint32
	target wire.Target
	gone   bool // given up; guarded by Everyone.mu
	req    *http.Request
	length int64         // of the request's body, -1 if unknown
	sentAt time.Duration // when it was sent, and how long
	waited time.Duration // the call had waited before
	model  string        // what it asks, for the recorder; "" if nobody has looked
	err    error         // how it failed, if no reply came

	made    *made        // what it sends, if not the caller's request
	said    wire.Reply   // what its reply says, and
	outcome wire.Outcome // what the client makes of that

	ctx     context.Context
	cancel  context.CancelFunc // nil if only the caller can end it
	timeout clockwork.Timer
}

// errTimeout is the cause of an attempt's own end.
var errTimeout = errors.New("live: the attempt's timeout has passed")

// send puts an attempt on its way: on a goroutine of its own if the strategy may
// do anything meanwhile, else on the caller's, once it has decided. It returns
// nil, with the call failed, if the request cannot be made.
func (c *caller) send(timeout time.Duration) *attempt {
	switch {
	case c.call.InFlight == math.MaxUint8: // as in the simulator
		c.fail(errTooMany)
		return nil
	case !c.body.ready():
		c.fail(errBody)
		return nil
	}
	a := &attempt{c: c, t: c.t, call: c.call.ID, target: c.call.Target, sentAt: c.at, waited: max(0, c.at-c.quietSince), ctx: c.ctx}
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
	if a.length == 0 && !c.body.none {
		a.length = -1
	}
	c.call.Attempts++
	c.call.InFlight++
	a.number, c.quietSince = c.call.Attempts, c.at
	if a.model = c.model; a.target.Model > 0 {
		a.model = c.t.cfg.Models[a.target.Model]
	}
	if timeout > 0 {
		a.timeout = c.t.clock.AfterFunc(timeout, func() { end(errTimeout) })
	}
	c.flying = append(c.flying, a)
	if c.t.async() {
		go a.fly()
	} else {
		c.pending = a
	}
	return a
}

// async reports whether attempts are on goroutines of their own.
func (t *Transport) async() bool { return t.program.Races || t.program.WantsSent }

// fly makes the attempt on a goroutine of its own. A panic of the base is the
// caller's, as it would be without a strategy.
func (a *attempt) fly() {
	l := letter{kind: strategies.Reply, panicked: "live: the base has ended its goroutine"}
	defer func() {
		if l.panicked != nil {
			if p := recover(); p != nil {
				l.panicked = p
			}
		}
		l.attempt = a
		if !a.deliver(l) {
			l.reply.close()
		}
	}()
	l = a.carry()
}

// deliver posts l unless the attempt has been given up.
func (a *attempt) deliver(l letter) bool {
	e := a.t.everyone
	e.mu.Lock()
	defer e.mu.Unlock()
	if !a.gone {
		a.c.post(l)
	}
	return !a.gone
}

// attempt returns attempt number n if it is in flight.
func (c *caller) attempt(n uint32) *attempt {
	for _, a := range c.flying {
		if a.number == n {
			return a
		}
	}
	return nil
}

// giveUp ends an attempt that nobody waits for any more.
func (a *attempt) giveUp() {
	a.t.everyone.mu.Lock()
	a.gone = true
	a.t.everyone.mu.Unlock()
	a.end()
}

// end cancels what the attempt has under way, and its timeout.
func (a *attempt) end() {
	if a.timeout != nil {
		a.timeout.Stop()
	}
	if a.cancel != nil {
		a.cancel()
	}
}

// carry makes the attempt and reads what comes back.
func (a *attempt) carry() (l letter) {
	well := false
	defer func() {
		if !well { // the recorder has panicked
			l.reply.close()
			a.end()
		}
	}()
	var resp *http.Response
	var err error
	if a.made == nil || a.made.err == nil {
		resp, err = a.t.base.RoundTrip(a.req)
	}
	switch {
	case a.made != nil && a.made.err != nil:
		l = a.unfit()
	case err != nil:
		l = a.lost(err)
	case resp == nil:
		l = a.lost(errNoResponse)
	default:
		if resp.Request == nil {
			resp.Request = a.req
		}
		if l = a.read(resp); a.remade() {
			l = a.unmake(l)
		}
	}
	switch {
	case l.kind == strategies.Head: // the attempt goes on
	case l.reply.whole():
		a.end()
	default: // it is believed, but its body still needs the context
		if a.timeout != nil {
			a.timeout.Stop()
		}
		l.reply.cancel = a.cancel
	}
	a.record(&l)
	well = true
	return l
}

// lost is the letter about an attempt without a reply.
func (a *attempt) lost(err error) letter {
	a.err = err
	a.outcome = wire.Outcome{Class: a.classOf(err), RetryAfter: wire.NoHint}
	return letter{kind: strategies.Reply}
}

// classOf is what an attempt without a reply came to.
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
	return wire.Disconnected
}

var (
	errTooMany    = errors.New("live: the strategy sends an attempt although 255 of the same call are in flight; bound its hedges")
	errNoResponse = errors.New("live: the base has returned neither a response nor an error")
)
