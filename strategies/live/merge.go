package live

import (
	"errors"
	"fmt"
	"math"
	"net/http"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// made is a request that is not the caller's own: it asks for several calls, or
// for a piece of what one asks.
type made struct {
	body  []byte      // nil if the caller's own will do
	from  wire.Demand // what the strategy takes that to ask for
	err   error       // why there is none
	cargo *cargo      // of calls that ride together
	// Of a piece: the answers to those before, and how many there are in all.
	before [][]byte
	of     int
}

// remade reports whether a sends something else than its caller's request. Its
// answer is read to the end then, a stream too.
func (a *attempt) remade() bool { return a.made != nil && a.made.body != nil }

// prepare finds out what a is to send, if its strategy merges or splits.
func (c *caller) prepare(a *attempt) {
	switch {
	case c.t.merges:
		if c.cargo == nil {
			c.load()
		}
		g := c.cargo
		a.made = &made{body: g.body, from: g.asks, err: g.err, cargo: g}
	case c.t.splits:
		a.made = c.nextPiece()
	}
}

// cargo is what a call of a merging strategy asks for once it goes: what all ask
// who ride with it.
type cargo struct {
	body  []byte // nil if it rides alone
	calls int
	asks  wire.Demand
	err   error // how joining failed
}

// load settles whom c asks for. It stays so for all its attempts until it joins
// another batch, like the demand that the strategy has settled.
func (c *caller) load() {
	g := &cargo{asks: c.call.Demand}
	c.cargo = g
	bodies := c.board()
	if g.calls = len(bodies); g.calls < 2 {
		return
	}
	if g.body, g.err = c.t.cfg.Join(c.req, bodies); g.err == nil && len(g.body) == 0 {
		g.err = errors.New("live: Config.Join has made a request without a body")
	}
}

// board returns the bodies of the calls that ride with c, its own first. Whose
// request would go elsewhere, or as somebody else, goes by itself, and so do calls
// without a body that could be joined.
func (c *caller) board() [][]byte {
	e := c.t.everyone
	e.mu.Lock()
	defer e.mu.Unlock()
	f := c.flight
	if f == nil || f.leader != c {
		return nil
	}
	bodies := [][]byte{c.text}
	for at := f.following.Front(); at != nil; {
		follower := at.Value.(*caller)
		at = at.Next()
		if len(c.text) > 0 && len(follower.text) > 0 && follower.manner == c.manner {
			follower.berth = len(bodies)
			bodies = append(bodies, follower.text)
			continue
		}
		follower.goAlone()
	}
	return bodies
}

// ride is what a reply answers that several calls have asked for together, and
// what each gets of it; no parts if it is a failure, which is everybody's.
type ride struct {
	cargo *cargo
	parts [][]byte
}

// share is what a call gets that has followed c, which lands; false if c has gone
// without it. It gets no reply if c has none since it leads.
func (c *caller) share(follower *caller) (r reply, rode bool) {
	last := &c.last
	switch {
	case !c.t.merges:
		return last.copied(), true
	case c.cargo == nil:
		return reply{}, true
	case follower.berth == 0:
		return reply{}, false
	case last.ride == nil || last.ride.cargo != c.cargo:
		return reply{}, true
	case last.ride.parts == nil:
		return last.copied(), true
	}
	return last.with(last.ride.parts[follower.berth]), true
}

// unmake makes of the answer to a request that was made what its caller would
// have got: its part of it, or all pieces together.
func (a *attempt) unmake(l letter) letter {
	m, r := a.made, &l.reply
	if m.cargo != nil {
		r.ride = &ride{cargo: m.cargo}
	}
	if r.resp == nil || !a.outcome.OK() {
		return l
	}
	well := false
	defer func() {
		if !well {
			r.close()
		}
	}()
	text, all := r.text(a.most())
	r.resp.Body.Close()
	if !all {
		return a.useless(errNotWhole)
	}
	r.buf = text
	resp := r.with(text).resp // theirs to look at
	resp.Request = a.req
	switch {
	case m.cargo != nil:
		parts, err := a.t.cfg.Part(resp, text, m.cargo.calls)
		if err == nil && len(parts) != m.cargo.calls {
			err = fmt.Errorf("live: Config.Part has made %d answers for %d calls", len(parts), m.cargo.calls)
		}
		if err != nil {
			return a.useless(err)
		}
		r.ride.parts, text = parts, parts[0]
	case len(m.before) == m.of-1:
		var err error
		if text, err = a.t.cfg.Combine(resp, append(m.before[:len(m.before):len(m.before)], text)); err != nil {
			return a.useless(err)
		}
	}
	made := r.with(text)
	made.ride = r.ride
	l.reply, well = made, true
	return l
}

// useless is the letter about an answer that nobody can make anything of.
func (a *attempt) useless(err error) letter {
	a.err = err
	a.outcome = wire.Outcome{Class: wire.ServerError, RetryAfter: wire.NoHint}
	return letter{kind: strategies.Reply}
}

// unfit is the letter about an attempt that could not be made.
func (a *attempt) unfit() letter {
	l := a.useless(a.made.err)
	a.outcome.Class = wire.BadRequest
	return l
}

// most is how much of an answer is read before it is believed.
func (a *attempt) most() int {
	if a.remade() {
		return int(min(a.t.cfg.MaxBody, math.MaxInt))
	}
	return a.t.cfg.Peek
}

// with is the same reply with another body, all of which is there.
func (r *reply) with(body []byte) reply {
	one := r.copied()
	h := one.resp.Header
	if h == nil {
		h = http.Header{}
		one.resp.Header = h
	}
	h.Del("Content-Encoding")
	h.Del("Content-Length")
	one.resp.ContentLength, one.resp.TransferEncoding = int64(len(body)), nil
	one.buf = body
	return one
}

// errNotWhole is why an answer is of no use that must be read whole.
var errNotWhole = errors.New("live: an answer to be taken apart or put together is not all there, or longer than MaxBody")
