package serve

import (
	"net/http"
	"strconv"
	"time"

	"herdlab/mockprovider/wire"
)

// meet hands the request to the provider and brings what comes of it to the
// client.
func (a *responder) runProvider(d *driver) {
	d.arrive(&a.x)
	select {
	case n := <-a.x.updates: // at once: then there is nothing to watch meanwhile
		a.deliver(d, n)
		return
	default:
	}
	closing := a.s.closing
	for {
		select {
		case n := <-a.x.updates:
			a.deliver(d, n)
			return
		case <-a.r.Context().Done():
			a.clientGone(d)
			return
		case <-closing:
			closing = nil // it is known now
			if d.neverAnswered(&a.x) {
				a.hold(d, update{kind: wire.Dropped})
				return
			}
		}
	}
}

// hear brings the first news to the client, and what follows.
func (a *responder) deliver(d *driver, n update) {
	if n.kind == wire.Head {
		a.stream(d, n)
		return
	}
	a.end(d, n)
}

// end brings an end to a client that has nothing yet.
func (a *responder) end(d *driver, n update) {
	d.metrics.ended(&a.x)
	switch n.kind {
	case wire.Dropped:
		a.hold(d, n)
	case wire.Broke:
		a.logEnd(n, false)
		a.resetConnection()
	default:
		a.context.Now = n.clock
		if a.x.request.Stream && a.dialect.Streams(&n.reply) {
			a.dialect.WriteStream(&a.message, &a.context, &n.reply)
			a.message.Length = -1
		} else {
			a.dialect.Write(&a.message, &a.context, &n.reply)
		}
		a.logEnd(n, false)
		a.send()
	}
}

// leave tells the provider that the client has hung up.
func (a *responder) clientGone(d *driver) {
	d.clientGone(&a.x)
	a.logEnd(update{kind: wire.Replied, at: d.clock.now(), reply: wire.Reply{Class: wire.Cancelled}}, true)
}

// hold keeps a request that will never be answered until its client leaves.
func (a *responder) hold(d *driver, n update) {
	timer := d.clock.NewTimer(a.s.cfg.MaxHold)
	defer timer.Stop()
	select {
	case <-a.r.Context().Done():
	case <-timer.Chan():
	case <-a.s.closing:
	}
	n.at = d.clock.now()
	a.logEnd(n, true)
	panic(http.ErrAbortHandler) // the connection ends without a word
}

// send writes the message, and breaks the connection where that is to break.
func (a *responder) send() {
	m := &a.message
	length := ""
	if m.Length >= 0 {
		length = strconv.Itoa(m.Length)
	}
	a.head(length)
	a.w.WriteHeader(m.Status)
	waits := len(m.Body) > bufferedBytes || m.Broken
	if waits {
		_ = a.controller.SetWriteDeadline(time.Now().Add(a.s.writeTimeout))
	}
	if _, err := a.w.Write(m.Body); err != nil {
		return
	}
	if m.Broken {
		_ = a.controller.Flush()
		panic(http.ErrAbortHandler)
	}
	if waits {
		_ = a.controller.SetWriteDeadline(time.Time{})
	}
	a.finished = true
}

// unwaited is how many bytes net/http keeps until the handler returns: who
// writes no more does not wait for the client, and needs no timer for that.
const bufferedBytes = 2 << 10

// head writes the headers of the message, and its length unless that is empty.
func (a *responder) head(length string) {
	h, headers := a.w.Header(), a.message.Headers
	values := make([]string, 0, len(headers)+3) // of all, instead of one at a time
	set := func(name, value string) {
		values = append(values, value)
		n := len(values)
		h[http.CanonicalHeaderKey(name)] = values[n-1 : n : n]
	}
	for i := range headers {
		set(headers[i].Name, headers[i].Value)
	}
	if length != "" {
		set("Content-Length", length)
	}
	set("Date", a.run.dates.of(a.run.driver.clock.wall(a.context.Now)))
	if h.Get("X-Request-Id") == "" {
		set("X-Request-Id", a.context.ID)
	}
}

// reset breaks the connection so that the client notices at once.
func (a *responder) resetConnection() {
	if c, ok := a.w.(interface{ reset() }); ok {
		c.reset()
		return
	}
	if c, _, err := a.controller.Hijack(); err == nil {
		if l, ok := c.(interface{ SetLinger(int) error }); ok {
			_ = l.SetLinger(0) // not a goodbye but a reset
		}
		_ = c.Close()
		return
	}
	panic(http.ErrAbortHandler) // HTTP/2 resets the stream
}
