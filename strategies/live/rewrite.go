package live

import (
	"errors"
	"fmt"
	"math"
	"net/http"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// rewrite is the request of an attempt that does not send the caller's request,
// but one for a batch of calls or a piece of the caller's request.
type rewrite struct {
	body  []byte      // nil if the caller's request is sent after all
	from  wire.Demand // the demand that body stands for
	err   error       // why the request cannot be made
	batch *batch      // nil for a piece
	// Of a piece: the answers to the earlier pieces, and the number of all pieces.
	answers [][]byte
	total   int
}

// rewritten reports whether a sends another request than the caller's. Its answer
// is then read completely, even if it is a stream.
func (a *attempt) rewritten() bool { return a.rewrite != nil && a.rewrite.body != nil }

// prepare sets a.rewrite if the strategy merges or splits.
func (c *callRun) prepare(a *attempt) {
	switch {
	case c.t.merges:
		if c.batch == nil {
			c.makeBatch()
		}
		b := c.batch
		a.rewrite = &rewrite{body: b.body, from: b.demand, err: b.err, batch: b}
	case c.t.splits:
		a.rewrite = c.nextPiece()
	}
}

// convertReply replaces the answer to a rewritten request by the answer to the
// caller's request: its part of a batch, or the joined answers of all pieces.
func (a *attempt) convertReply(m message) message {
	w, r := a.rewrite, &m.reply
	if w.batch != nil {
		r.batch = &batchReply{batch: w.batch}
	}
	if r.resp == nil || !a.outcome.OK() {
		return m
	}
	done := false
	defer func() {
		if !done {
			r.close()
		}
	}()
	text, all := r.decodedBody(a.readLimit())
	r.resp.Body.Close()
	if !all {
		return a.unusable(errIncomplete)
	}
	r.buf = text
	resp := r.withBody(text).resp // a copy, for the functions of the Config
	resp.Request = a.req
	switch {
	case w.batch != nil:
		parts, err := a.t.cfg.SplitReply(resp, text, w.batch.calls)
		if err == nil && len(parts) != w.batch.calls {
			err = fmt.Errorf("live: Config.SplitReply returned %d answers for %d calls", len(parts), w.batch.calls)
		}
		if err != nil {
			return a.unusable(err)
		}
		r.batch.parts, text = parts, parts[0]
	case len(w.answers) == w.total-1:
		var err error
		if text, err = a.t.cfg.JoinReplies(resp, append(w.answers[:len(w.answers):len(w.answers)], text)); err != nil {
			return a.unusable(err)
		}
	}
	converted := r.withBody(text)
	converted.batch = r.batch
	m.reply, done = converted, true
	return m
}

// unusable returns the message for an answer that cannot be converted.
func (a *attempt) unusable(err error) message {
	a.err = err
	a.outcome = wire.Outcome{Class: wire.ServerError, RetryAfter: wire.NoHint}
	return message{kind: strategies.Reply}
}

// notSent returns the message for an attempt whose request cannot be made.
func (a *attempt) notSent() message {
	m := a.unusable(a.rewrite.err)
	a.outcome.Class = wire.BadRequest
	return m
}

// readLimit returns the number of bytes of an answer that are read before its
// outcome is decided.
func (a *attempt) readLimit() int {
	if a.rewritten() {
		return int(min(a.t.cfg.MaxBody, math.MaxInt))
	}
	return a.t.cfg.Peek
}

// withBody returns a copy of the reply with another, complete body.
func (r *reply) withBody(body []byte) reply {
	c := r.clone()
	h := c.resp.Header
	if h == nil {
		h = http.Header{}
		c.resp.Header = h
	}
	h.Del("Content-Encoding")
	h.Del("Content-Length")
	c.resp.ContentLength, c.resp.TransferEncoding = int64(len(body)), nil
	c.buf = body
	return c
}

// errIncomplete is the error of an answer that cannot be split or joined.
var errIncomplete = errors.New("live: an answer to be split or joined is incomplete, or longer than MaxBody")
