package serve

import (
	"net/http"
	"strconv"
	"time"

	"herdlab/mockprovider/wire"
)

// runProvider passes the request to the provider and sends the result to the client.
func (a *responder) runProvider(d *driver) {
	d.arrive(&a.x)
	select {
	case n := <-a.x.updates: // at once, so there is nothing else to wait for
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
			closing = nil // handled
			if d.neverAnswered(&a.x) {
				a.hold(d, update{kind: wire.Dropped})
				return
			}
		}
	}
}

// deliver sends the first update to the client, and what follows it.
func (a *responder) deliver(d *driver, n update) {
	if n.kind == wire.Head {
		a.stream(d, n)
		return
	}
	a.end(d, n)
}

// end sends the end to a client that has received no head.
func (a *responder) end(d *driver, n update) {
	d.metrics.ended(&a.x)
	switch n.kind {
	case wire.Dropped:
		a.hold(d, n)
	case wire.LostConnection:
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

// clientGone reports to the provider that the client has hung up.
func (a *responder) clientGone(d *driver) {
	d.clientGone(&a.x)
	a.logEnd(update{kind: wire.Replied, at: d.clock.now(), reply: wire.Reply{Class: wire.Cancelled}}, true)
}

// hold keeps a request without an answer until its client hangs up.
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
	panic(http.ErrAbortHandler) // close the connection without a reply
}

// send writes the message, and closes the connection if the body is truncated.
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

// bufferedBytes is the size that net/http buffers until the handler returns: writing
// less does not block, and needs no deadline.
const bufferedBytes = 2 << 10

// head sets the headers of the message; length is empty if it is not known.
func (a *responder) head(length string) {
	h, headers := a.w.Header(), a.message.Headers
	values := make([]string, 0, len(headers)+3) // one allocation for all headers
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

// resetConnection resets the connection, so that the client notices at once.
func (a *responder) resetConnection() {
	if c, ok := a.w.(interface{ reset() }); ok {
		c.reset()
		return
	}
	if c, _, err := a.controller.Hijack(); err == nil {
		if l, ok := c.(interface{ SetLinger(int) error }); ok {
			_ = l.SetLinger(0) // RST instead of FIN
		}
		_ = c.Close()
		return
	}
	panic(http.ErrAbortHandler) // HTTP/2 resets the stream
}
