package live

import (
	"context"
	"io"
	"net/http"
	"sync"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// readStream reads a stream up to its first token: until then an error in it
// can be retried. Then the answer has begun, and is the caller's.
func (a *attempt) readStream(resp *http.Response) letter {
	t := a.t
	in := dialect.Received{Status: resp.StatusCode, Header: resp.Header.Get}
	at := dialect.Reading{Epoch: t.epoch}
	var s *dialect.StreamReader
	if t.dialect != nil {
		s = t.dialect.ReadStream(in, at)
	} else {
		s = dialect.SniffStream(in, at)
	}
	r := reply{resp: resp, rest: true}
	most, whole := a.most(), a.remade()
	for (!s.Begun() || whole) && len(r.buf) < most {
		fresh := len(r.buf)
		r.read(most)
		s.Feed(r.buf[fresh:])
		if r.rest {
			continue
		}
		if r.err != nil && a.ctx.Err() != nil { // nobody waits for it any more
			err := r.err
			r.close()
			return a.lost(err)
		}
		a.said = s.End(r.err != nil)
		t.outcome(&a.said, &a.outcome)
		return letter{kind: strategies.Reply, reply: r}
	}
	if whole {
		r.close()
		return a.useless(errNotWhole)
	}
	a.outcome = wire.Outcome{Status: uint16(resp.StatusCode), RetryAfter: wire.NoHint, Tokens: s.Tokens(), Begun: true}
	return letter{kind: strategies.Head, reply: r, reader: s}
}

// handOver gives the caller a stream that has begun. What else was under way for
// the call is given up: the answer is there.
func (c *caller) handOver() *http.Response {
	c.stopTimer()
	c.depart(false)
	c.holding = true
	c.settleAll()
	c.body.close()
	h := &handedOver{c: c, a: c.stream, body: c.last.resp.Body, reader: c.reader}
	c.last.resp.Body = h
	resp := c.last.response(c.req)
	h.mu.Lock() // the context may have ended
	defer h.mu.Unlock()
	h.forget = context.AfterFunc(c.ctx, func() { h.end(context.Cause(h.a.ctx)) })
	return resp
}

// handedOver is the rest of a stream whose reader the caller is. The strategy
// hears how it ends.
type handedOver struct {
	a    *attempt
	body io.ReadCloser

	mu     sync.Mutex
	c      *caller // nil once it has ended
	reader *dialect.StreamReader
	forget func() bool // ends the watch over the caller's context
}

// Read implements io.Reader.
func (h *handedOver) Read(p []byte) (int, error) {
	n, err := h.body.Read(p)
	h.feed(p[:n])
	if err != nil {
		h.end(err)
	}
	return n, err
}

func (h *handedOver) feed(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.c != nil {
		h.reader.Feed(p)
	}
}

// Close implements io.Closer. Who closes a stream before it has said how it ends
// has withdrawn the call.
func (h *handedOver) Close() error {
	err := h.body.Close()
	h.end(nil)
	return err
}

// end ends the call, once: err is nil if its reader has had enough.
func (h *handedOver) end(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.c
	if c == nil {
		return
	}
	h.c = nil
	h.forget()
	well := false
	defer func() {
		if !well {
			c.abandon()
		}
	}()
	h.a.said = h.reader.End(err != io.EOF)
	c.conclude(err)
	c.record()
	well, c.holding = true, false
	c.free(true)
}

// conclude tells the strategy how the stream ended and settles the call. A reader who leaves after the finish marker has all of it.
func (c *caller) conclude(err error) {
	a := c.stream
	e := strategies.Event{Kind: strategies.Reply, Attempt: a.number, Outcome: &a.outcome, SentAt: a.sentAt}
	c.t.outcome(&a.said, &a.outcome)
	expired := context.Cause(a.ctx) == errTimeout
	switch gone := err == nil || c.ctx.Err() != nil; {
	case a.said.Body != wire.CutBody:
	case gone && !c.over:
		c.holding = false
		c.withdraw()
		return
	case gone:
		e.Kind, *e.Outcome = strategies.Settled, cancelled
	case expired:
		e.Kind = strategies.Expired
		e.Outcome.Class = wire.Timeout
	}
	c.land(a)
	a.end()
	over := c.over
	c.over = true
	if d := c.told(e); over {
		return
	} else if c.end = d; d.Kind != strategies.Stop && d.Kind != strategies.Answer {
		// It would go on, but nobody can give the tokens back.
		c.told(strategies.Event{Kind: strategies.Cancelled})
		c.end = strategies.Decision{Kind: strategies.Stop, End: strategies.End{Reason: strategies.Failed, Class: e.Outcome.Class}}
	}
	c.depart(true) // a flight that the strategy has not landed
}
