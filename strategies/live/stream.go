package live

import (
	"io"
	"net/http"
	"time"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// readStream reads a stream up to its first token: until then an error in it
// can be retried. Then the answer has begun, and is the caller's.
func (a *attempt) readStream(resp *http.Response) letter {
	t := a.c.t
	in := dialect.Received{Status: resp.StatusCode, Header: resp.Header.Get}
	at := dialect.Reading{Epoch: t.epoch}
	var s *dialect.StreamReader
	if t.dialect != nil {
		s = t.dialect.ReadStream(in, at)
	} else {
		s = dialect.SniffStream(in, at)
	}
	l := letter{kind: strategies.Reply, reply: reply{resp: resp, rest: true}}
	r := &l.reply
	chunk := make([]byte, 4096)
	for len(r.buf) < t.cfg.Peek {
		n, err := resp.Body.Read(chunk)
		s.Feed(chunk[:n])
		r.buf = append(r.buf, chunk[:n]...)
		if err != nil {
			if r.rest = false; err != io.EOF {
				r.err = err
			}
			compact := s.End(err != io.EOF)
			t.outcome(&compact, &l.outcome)
			return l
		}
		if s.Begun() {
			break
		}
	}
	l.kind = strategies.Head
	l.outcome = wire.Outcome{Status: uint16(resp.StatusCode), RetryAfter: wire.NoHint, Tokens: s.Tokens(), Begun: true}
	resp.Body = &handedOver{a: a, body: resp.Body, reader: s}
	return l
}

// handOver gives the caller a stream that has begun. What else was under way for
// the call is given up.
func (c *caller) handOver() *http.Response {
	c.stopTimer()
	won := c.stream
	c.land(won)
	c.settleAll()
	c.flying = append(c.flying, won)
	c.call.InFlight++
	c.holding = true
	return c.last.response(c.req)
}

// handedOver is the rest of a stream whose reader the caller is. The strategy
// hears how it ends.
type handedOver struct {
	a      *attempt
	body   io.ReadCloser
	reader *dialect.StreamReader
	ended  bool
}

// Read implements io.Reader.
func (h *handedOver) Read(p []byte) (int, error) {
	n, err := h.body.Read(p)
	h.reader.Feed(p[:n])
	if err != nil {
		h.end(err)
	}
	return n, err
}

// Close implements io.Closer. Who closes a stream before its end has withdrawn
// the call.
func (h *handedOver) Close() error {
	err := h.body.Close()
	h.end(nil)
	return err
}

// end tells the strategy, once, how the stream ended: err is nil if its reader
// has had enough.
func (h *handedOver) end(err error) {
	if h.ended {
		return
	}
	h.ended = true
	c, a := h.a.c, h.a
	if err == nil || c.ctx.Err() != nil {
		c.withdraw()
	} else {
		compact := h.reader.End(err != io.EOF)
		var o wire.Outcome
		c.t.outcome(&compact, &o)
		c.land(a)
		if a.cancel != nil {
			a.cancel()
		}
		c.end, _ = c.decide(strategies.Event{Kind: strategies.Reply, Attempt: a.number, Outcome: &o, SentAt: a.sentAt})
		c.over = true
		if c.end.Kind != strategies.Stop && c.end.Kind != strategies.Answer {
			// It would go on, but nobody can give the tokens back.
			c.told(strategies.Event{Kind: strategies.Cancelled})
			c.end = strategies.Decision{Kind: strategies.Stop, End: strategies.End{Reason: strategies.Failed, Class: o.Class}}
		}
	}
	a.done()
	c.record()
	c.holding = false
	if c.free() {
		c.t.callers.Put(c)
	}
}

// unix is a second since 1970.
func unix(s int64) time.Time { return time.Unix(s, 0) }
