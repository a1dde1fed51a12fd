package serve

import (
	"net/http"
	"time"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
)

// stream sends an answer as it is produced: the head, the tokens at equal intervals
// from the head to the end of the job, and then the provider's end, good or bad.
func (a *responder) stream(d *driver, head update) {
	a.context.Now = head.clock
	a.dialect.Head(&a.message, &a.context, &head.reply)
	a.head("")
	a.w.WriteHeader(a.message.Status)
	a.message.Body = a.dialect.Begin(a.message.Body, &a.context, &head.reply)
	pieces := dialect.Pieces(head.tokens)
	leaving := min(pieces, dialect.Pieces(head.tokens-head.withheld))
	timer := d.clock.NewTimer(time.Hour)
	defer timer.Stop()
	for sent := 0; ; {
		// The first piece is sent with the head, the others at equal intervals until
		// the end.
		var due <-chan time.Time
		for now := d.clock.now(); sent < leaving; sent++ {
			if at := head.at + share(head.until-head.at, sent, pieces); at > now {
				timer.Reset(d.clock.until(at))
				due = timer.Chan()
				break
			}
			a.message.Body = a.dialect.Token(a.message.Body, &a.context, &head.reply, sent)
		}
		if !a.flush() {
			a.clientGone(d)
			return
		}
		select {
		case n := <-a.x.updates:
			a.finish(d, n, sent)
			return
		case <-due:
		case <-a.r.Context().Done():
			a.clientGone(d)
			return
		}
	}
}

// share returns k/n of d.
func share(d time.Duration, k, n int) time.Duration {
	whole, rest := d/time.Duration(n), d%time.Duration(n)
	return whole*time.Duration(k) + rest*time.Duration(k)/time.Duration(n)
}

// finish sends the end of a stream after sent pieces.
func (a *responder) finish(d *driver, n update, sent int) {
	d.metrics.ended(&a.x)
	switch n.kind {
	case wire.Dropped:
		a.hold(d, n)
		return
	case wire.LostConnection:
		a.logEnd(n, false)
		a.resetConnection()
		return
	}
	for ; sent < dialect.Pieces(n.reply.Tokens); sent++ {
		a.message.Body = a.dialect.Token(a.message.Body, &a.context, &n.reply, sent)
	}
	if a.dialect.Streams(&n.reply) {
		a.message.Body = a.dialect.End(a.message.Body, &a.context, &n.reply, sent)
	}
	a.logEnd(n, false)
	a.flush()
	if n.reply.Body == wire.TruncatedBody {
		panic(http.ErrAbortHandler)
	}
	a.finished = true
}

// flush sends what has been written; ok is false if the client does not receive it.
func (a *responder) flush() (ok bool) {
	if len(a.message.Body) == 0 {
		return true
	}
	_ = a.controller.SetWriteDeadline(time.Now().Add(a.s.writeTimeout))
	_, err := a.w.Write(a.message.Body)
	if err == nil {
		err = a.controller.Flush()
	}
	a.message.Body = a.message.Body[:0]
	return err == nil
}
