package serve

import (
	"net/http"
	"strconv"
	"time"

	"herdlab/mockprovider/wire"
)

// meet hands the request to the provider and brings what comes of it to the
// client.
func (a *answering) meet(d *driver) {
	d.arrive(&a.x)
	select {
	case n := <-a.x.news: // at once: then there is nothing to watch meanwhile
		a.hear(d, n)
		return
	default:
	}
	closing := a.s.closing
	for {
		select {
		case n := <-a.x.news:
			a.hear(d, n)
			return
		case <-a.r.Context().Done():
			a.leave(d)
			return
		case <-closing:
			closing = nil // it is known now
			if d.doomed(&a.x) {
				a.hold(d, news{kind: wire.Dropped})
				return
			}
		}
	}
}

// hear brings the first news to the client, and what follows.
func (a *answering) hear(d *driver, n news) {
	if n.kind == wire.Head {
		a.stream(d, n)
		return
	}
	a.end(d, n)
}

// end brings an end to a client that has nothing yet.
func (a *answering) end(d *driver, n news) {
	d.metrics.ended(&a.x)
	switch n.kind {
	case wire.Dropped:
		a.hold(d, n)
	case wire.Broke:
		a.log(n, false)
		a.reset()
	default:
		a.context.Now = n.shows
		if a.x.request.Stream && a.dialect.Streams(&n.reply) {
			a.dialect.WriteStream(&a.message, &a.context, &n.reply)
			a.message.Length = -1
		} else {
			a.dialect.Write(&a.message, &a.context, &n.reply)
		}
		a.log(n, false)
		a.send()
	}
}

// leave tells the provider that the client has hung up.
func (a *answering) leave(d *driver) {
	d.leave(&a.x)
	a.log(news{kind: wire.Replied, at: d.clock.now(), reply: wire.Reply{Class: wire.Cancelled}}, true)
}

// hold keeps a request that will never be answered until its client leaves.
func (a *answering) hold(d *driver, n news) {
	timer := d.clock.NewTimer(a.s.cfg.MaxHold)
	defer timer.Stop()
	select {
	case <-a.r.Context().Done():
	case <-timer.Chan():
	case <-a.s.closing:
	}
	n.at = d.clock.now()
	a.log(n, true)
	panic(http.ErrAbortHandler) // the connection ends without a word
}

// send writes the message, and breaks the connection where that is to break.
func (a *answering) send() {
	m := &a.message
	length := ""
	if m.Length >= 0 {
		length = strconv.Itoa(m.Length)
	}
	a.head(length)
	a.w.WriteHeader(m.Status)
	waits := len(m.Body) > unwaited || m.Broken
	if waits {
		_ = a.control.SetWriteDeadline(time.Now().Add(a.s.patience))
	}
	if _, err := a.w.Write(m.Body); err != nil {
		return
	}
	if m.Broken {
		_ = a.control.Flush()
		panic(http.ErrAbortHandler)
	}
	if waits {
		_ = a.control.SetWriteDeadline(time.Time{})
	}
	a.done = true
}

// unwaited is how many bytes net/http keeps until the handler returns: who
// writes no more does not wait for the client, and needs no timer for that.
const unwaited = 2 << 10

// head writes the headers of the message, and its length unless that is empty.
func (a *answering) head(length string) {
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
	set("Date", a.world.dates.of(a.world.driver.clock.wall(a.context.Now)))
	if h.Get("X-Request-Id") == "" {
		set("X-Request-Id", a.context.ID)
	}
}

// reset breaks the connection so that the client notices at once.
func (a *answering) reset() {
	if c, ok := a.w.(interface{ reset() }); ok {
		c.reset()
		return
	}
	if c, _, err := a.control.Hijack(); err == nil {
		if l, ok := c.(interface{ SetLinger(int) error }); ok {
			_ = l.SetLinger(0) // not a goodbye but a reset
		}
		_ = c.Close()
		return
	}
	panic(http.ErrAbortHandler) // HTTP/2 resets the stream
}
