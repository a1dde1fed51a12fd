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

// readStream reads a stream up to its first token. An error before that can be
// retried; afterwards the stream belongs to the caller.
func (a *attempt) readStream(resp *http.Response) message {
	t := a.t
	in := dialect.RawReply{Status: resp.StatusCode, Header: resp.Header.Get}
	at := dialect.ReadContext{Epoch: t.epoch}
	var s *dialect.StreamReader
	if t.dialect != nil {
		s = t.dialect.ReadStream(in, at)
	} else {
		s = dialect.DetectStream(in, at)
	}
	r := reply{resp: resp, more: true}
	limit, whole := a.readLimit(), a.rewritten()
	for (!s.Begun() || whole) && len(r.buf) < limit {
		fresh := len(r.buf)
		r.read(limit)
		s.Feed(r.buf[fresh:])
		if r.more {
			continue
		}
		if r.err != nil && a.ctx.Err() != nil { // the error is due to the context
			err := r.err
			r.close()
			return a.failed(err)
		}
		a.reply = s.End(r.err != nil)
		t.readOutcome(&a.reply, &a.outcome)
		return message{kind: strategies.Reply, reply: r}
	}
	if whole {
		r.close()
		return a.unusable(errIncomplete)
	}
	a.outcome = wire.Outcome{Status: uint16(resp.StatusCode), RetryAfter: wire.NoHint, Tokens: s.Tokens(), Begun: true}
	return message{kind: strategies.Head, reply: r, reader: s}
}

// returnStream returns a stream that has begun. Everything else of the call is
// given up.
func (c *callRun) returnStream() *http.Response {
	c.stopTimer()
	c.leaveAll(false)
	c.streaming = true
	c.abandonAttempts()
	c.body.close()
	h := &streamBody{run: c, a: c.stream, body: c.last.resp.Body, reader: c.reader}
	c.last.resp.Body = h
	resp := c.last.response(c.req)
	h.mu.Lock() // the context's function may run already
	defer h.mu.Unlock()
	h.stopWatch = context.AfterFunc(c.ctx, func() { h.end(context.Cause(h.a.ctx)) })
	return resp
}

// streamBody is the body of a stream that the caller reads. Its end is passed to
// the strategy.
type streamBody struct {
	a    *attempt
	body io.ReadCloser

	mu        sync.Mutex
	run       *callRun // nil after the end
	reader    *dialect.StreamReader
	stopWatch func() bool // stops watching the caller's context
}

// Read implements io.Reader.
func (h *streamBody) Read(p []byte) (int, error) {
	n, err := h.body.Read(p)
	h.feed(p[:n])
	if err != nil {
		h.end(err)
	}
	return n, err
}

func (h *streamBody) feed(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run != nil {
		h.reader.Feed(p)
	}
}

// Close implements io.Closer. Closing a stream before its finish marker cancels
// the call.
func (h *streamBody) Close() error {
	err := h.body.Close()
	h.end(nil)
	return err
}

// end ends the call, once; err is nil if the caller closed the stream.
func (h *streamBody) end(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.run
	if c == nil {
		return
	}
	h.run = nil
	h.stopWatch()
	done := false
	defer func() {
		if !done {
			c.cleanUp()
		}
	}()
	h.a.reply = h.reader.End(err != io.EOF)
	c.endStream(err)
	c.record()
	done, c.streaming = true, false
	c.release(true)
}

// endStream passes the end of the stream to the strategy and ends the call. If the
// caller closes the stream after the finish marker, the call has succeeded.
func (c *callRun) endStream(err error) {
	a := c.stream
	e := strategies.Event{Kind: strategies.Reply, Attempt: a.number, Outcome: &a.outcome, SentAt: a.sentAt}
	c.t.readOutcome(&a.reply, &a.outcome)
	expired := context.Cause(a.ctx) == errTimeout
	switch gone := err == nil || c.ctx.Err() != nil; {
	case a.reply.Body != wire.TruncatedBody:
	case gone && !c.over:
		c.streaming = false
		c.cancel()
		return
	case gone:
		e.Kind, *e.Outcome = strategies.Settled, cancelled
	case expired:
		e.Kind = strategies.Expired
		e.Outcome.Class = wire.Timeout
	}
	c.removeAttempt(a)
	a.end()
	over := c.over
	c.over = true
	if d := c.report(e); over {
		return
	} else if c.end = d; d.Kind != strategies.Stop && d.Kind != strategies.Answer {
		// The strategy would retry, but the caller has received tokens.
		c.report(strategies.Event{Kind: strategies.Cancelled})
		c.end = strategies.Decision{Kind: strategies.Stop, End: strategies.End{Reason: strategies.Failed, Class: e.Outcome.Class}}
	}
	c.leaveAll(true) // in case the strategy has not ended its flight
}
