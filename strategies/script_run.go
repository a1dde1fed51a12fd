package strategies

import (
	"iter"
	"time"

	"herdlab/mockprovider/wire"
)

// Scripts holds the coroutines of a run. A driver whose program is Scripted owns
// one, sets it in the DriverState of each call, and closes it at the end of the
// run. The zero value is ready to use.
type Scripts struct {
	all  []coroutine
	idle []uint32
}

type coroutine struct {
	session *Session
	next    func() (order, bool)
	stop    func()
}

// begin returns the number of a coroutine that is ready for a new call.
func (r *Scripts) begin(f *scripted) uint32 {
	var i uint32
	if n := len(r.idle); n > 0 {
		i = r.idle[n-1]
		r.idle = r.idle[:n-1]
	} else {
		s := new(Session)
		next, stop := iter.Pull(s.serve)
		i = uint32(len(r.all))
		r.all = append(r.all, coroutine{s, next, stop})
	}
	s := r.all[i].session
	s.script, s.purpose, s.leave = f.run, f.purpose, false
	s.result, s.end = Result{}, StopWith(Failed, wire.BadRequest)
	return i
}

// resume runs coroutine i until its script blocks or returns.
func (r *Scripts) resume(i uint32, now time.Duration, c *Call) order {
	s := r.all[i].session
	s.now, s.call, s.draws = now, c, 0
	o, _ := r.all[i].next()
	s.call = nil
	if o.kind == Stop {
		r.idle = append(r.idle, i)
	}
	return o
}

// Close ends all coroutines; scripts that have not returned unwind.
func (r *Scripts) Close() {
	for i := range r.all {
		r.all[i].stop()
	}
	r.all, r.idle = nil, nil
}

// scripted is a Script in a stack.
type scripted struct {
	run     Script
	inner   Strategy
	slot    Slot    // the coroutine's number + 1; 0 means no coroutine
	waiting Waiting // set while the script sleeps
	purpose Purpose
}

// Next implements Strategy.
func (f *scripted) Next(now time.Duration, c *Call, e Event) Decision {
	at := c.Word(f.slot, 0)
	switch {
	case e.Kind == Begin:
		f.waiting.Clear(c)
		*at = int64(c.driver.Scripts.begin(f)) + 1
		return f.step(now, c, at)
	case *at == 0: // the script is over; late events are for the layers inside
		return f.inner.Next(now, c, e)
	case f.waiting.In(c) && e.Kind == Wake:
		f.waiting.Clear(c)
		return f.step(now, c, at)
	case f.waiting.In(c) && e.Kind == Cancelled:
		f.waiting.Clear(c)
		f.unwind(now, c, at)
		return StopCancelled()
	}
	return f.settle(now, c, at, e, f.inner.Next(now, c, e))
}

// settle resumes the script if d, which e has caused, ends its Send.
func (f *scripted) settle(now time.Duration, c *Call, at *int64, e Event, d Decision) Decision {
	if !d.Settles() {
		return d
	}
	if d.End.Class == wire.Cancelled {
		f.unwind(now, c, at)
		return d
	}
	c.driver.Scripts.all[*at-1].session.ended(e, d)
	return f.step(now, c, at)
}

// step runs the script until it blocks or is over.
func (f *scripted) step(now time.Duration, c *Call, at *int64) Decision {
	for {
		s := c.driver.Scripts.all[*at-1].session
		o := c.driver.Scripts.resume(uint32(*at-1), now, c)
		switch o.kind {
		case Wait:
			f.waiting.Set(c)
			return Decision{Kind: Wait, After: o.after}
		case Send:
			e := Event{Kind: Begin}
			d := f.inner.Next(now, c, e)
			if !d.Settles() {
				return d
			}
			s.ended(e, d)
		default:
			*at = 0
			return s.verdict(o.err)
		}
	}
}

// unwind ends the script where it blocks.
func (f *scripted) unwind(now time.Duration, c *Call, at *int64) {
	c.driver.Scripts.all[*at-1].session.leave = true
	c.driver.Scripts.resume(uint32(*at-1), now, c)
	*at = 0
}
