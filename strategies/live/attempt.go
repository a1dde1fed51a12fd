package live

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// attempt is one request on the wire.
type attempt struct {
	c      *caller
	number uint32
	target wire.Target
	demand wire.Demand
	sentAt time.Duration
	err    error // how it failed, if no reply came

	ctx     context.Context
	cancel  context.CancelFunc // nil if only the caller can end it
	timeout clockwork.Timer
	async   bool
	gone    bool // given up; guarded by Everyone.mu
}

// errTimeout is the cause of an attempt's own end.
var errTimeout = errors.New("live: the attempt's timeout has passed")

// send puts an attempt on its way: on a goroutine of its own if the strategy may
// do anything meanwhile, else on the caller's, once it has decided. It returns
// nil, with the call failed, if the body cannot be sent again.
func (c *caller) send(timeout time.Duration) *attempt {
	if c.call.Attempts > 0 && !c.body.replayable() {
		c.fail(errBody)
		return nil
	}
	c.call.Attempts++
	c.call.InFlight++
	a := &attempt{c: c, number: c.call.Attempts, target: c.call.Target, demand: c.call.Demand, sentAt: c.at, ctx: c.ctx}
	a.async = c.t.program.Races || c.t.program.WantsSent
	if timeout > 0 || a.async {
		ctx, cancel := context.WithCancelCause(c.ctx)
		a.ctx, a.cancel = ctx, func() { cancel(context.Canceled) }
		if timeout > 0 {
			a.timeout = c.t.clock.AfterFunc(timeout, func() { cancel(errTimeout) })
		}
	}
	c.flying = append(c.flying, a)
	if !a.async {
		c.pending = a
		return a
	}
	go func() {
		l := a.carry()
		e := c.t.everyone
		e.mu.Lock()
		defer e.mu.Unlock()
		if a.gone {
			l.reply.close()
			return
		}
		l.attempt = a
		c.post(l)
	}()
	return a
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
	a.c.t.everyone.mu.Lock()
	a.gone = true
	a.c.t.everyone.mu.Unlock()
	if a.cancel != nil {
		a.cancel()
	}
	a.done()
}

// done releases what belongs to the attempt alone, once nothing of it is read.
func (a *attempt) done() {
	if a.timeout != nil {
		a.timeout.Stop()
	}
}

// carry makes the attempt and reads what comes back.
func (a *attempt) carry() letter {
	req, err := a.request()
	var l letter
	if err == nil {
		var resp *http.Response
		if resp, err = a.c.t.base.RoundTrip(req); err == nil {
			l = a.read(resp)
		}
	}
	if err != nil {
		a.err = err
		l = letter{kind: strategies.Reply, outcome: wire.Outcome{Class: a.classOf(err), RetryAfter: wire.NoHint}}
	}
	if l.kind != strategies.Head {
		a.done()
		if a.cancel != nil && l.reply.whole() {
			a.cancel()
		}
	}
	a.c.t.recordAttempt(a, &l)
	return l
}

// classOf is what an attempt without a reply came to.
func (a *attempt) classOf(err error) wire.Class {
	if context.Cause(a.ctx) == errTimeout {
		return wire.Timeout
	}
	var n net.Error
	if errors.As(err, &n) && n.Timeout() {
		return wire.Timeout
	}
	return wire.Disconnected
}
