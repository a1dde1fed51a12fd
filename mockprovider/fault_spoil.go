package mockprovider

import (
	"errors"
	"fmt"
	"math/bits"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Spoil makes answers of work that was done go wrong on the wire, under the
// status 200 that they began with.
type Spoil struct {
	// Body is what becomes of them. StreamError, SilentEnd and CutBody break
	// off, and free the slot, after Tokens of the answer or, if it has fewer, in
	// place of its end: with an error event, with a clean end that lacks the
	// finish marker, and by the end of the connection. Garbage is text that is no
	// JSON, WrongType an HTML page, Doubled the answer twice. The first two stand
	// in the answer's place when its work is done: no head leaves before them.
	//
	// Of a reply that is not a stream nothing has left before it is whole, so
	// there an error event is an ordinary error, a clean end leaves text that is
	// no JSON, and a broken one no tokens that a client could use.
	Body   wire.Body
	Tokens uint32
	// Class is that of a StreamError, Overloaded if it is not given.
	Class wire.Class
	// AtOnce, for Garbage and WrongType: it is a gateway that answers, in place
	// of the provider and at once.
	AtOnce bool
}

var spoilNames = [wire.NumBodies]string{
	wire.StreamError: "stream error", wire.SilentEnd: "silent end", wire.CutBody: "cut body",
	wire.Garbage: "garbage", wire.WrongType: "wrong type", wire.Doubled: "doubled",
}

// Name implements Disturbance.
func (d Spoil) Name() string {
	if d.Body < wire.StreamError || d.Body >= wire.NumBodies {
		return "spoil"
	}
	return spoilNames[d.Body]
}

// Validate implements Disturbance.
func (d Spoil) Validate() error {
	switch {
	case d.Body < wire.StreamError || d.Body >= wire.NumBodies:
		return errors.New("say what becomes of the answer: a stream error, a silent end, a cut body, garbage, a wrong type or doubled")
	case d.Tokens != 0 && !d.Body.Begun():
		return errors.New("it has no place for a number of tokens; only what breaks off has")
	case d.Class != wire.OK && d.Body != wire.StreamError:
		return errors.New("it has no class; only a stream error has")
	case d.Class >= wire.Timeout:
		return fmt.Errorf("no provider says %v in a stream", d.Class)
	case d.AtOnce && !d.replaces():
		return errors.New("it is made of an answer, so it cannot come at once; only garbage and wrong type can")
	}
	return nil
}

// replaces reports whether something else stands in the answer's place.
func (d Spoil) replaces() bool { return d.Body == wire.Garbage || d.Body == wire.WrongType }

func (d Spoil) hooks(Space) hooks {
	if d.AtOnce {
		return hooks{arrive: func(p *Provider, _ time.Duration, _ *fault, in *wire.Input, out []wire.Effect) ([]wire.Effect, bool) {
			out, e := p.refuse(in, out)
			e.Reply.Status, e.Reply.RetryAfter = 200, wire.NoHint
			d.spoil(&e.Reply)
			return out, true
		}}
	}
	h := hooks{end: d.end}
	switch {
	case d.replaces():
		h.work = func(w *work, _ bool, _ draw.Rand) { w.head = noHead }
	case d.Body.Begun():
		h.work = func(w *work, stream bool, _ draw.Rand) {
			if stream || d.Body == wire.StreamError {
				w.stopAt(d.Tokens)
			}
		}
	}
	return h
}

// end spoils the end of a job.
func (d Spoil) end(p *Provider, now time.Duration, j *job, e *wire.Effect) {
	to := &e.Reply
	if d.Body != wire.StreamError {
		switch {
		case j.req.Stream && d.Body.Begun():
			to.Tokens = min(d.Tokens, to.Tokens)
		case d.Body == wire.SilentEnd && !j.req.Stream:
			d.Body = wire.Garbage
		case d.Body == wire.CutBody:
			to.Tokens = 0
		}
		d.spoil(to)
		return
	}
	class := d.Class
	if class == wire.OK {
		class = wire.Overloaded
	}
	if !j.req.Stream {
		*to = wire.Reply{}
		p.word(now, &j.req, &Refusal{}, class, wire.NoHint, e)
		return
	}
	f := &p.formsFor(&j.req)[class]
	to.Class, to.Shown, to.Words, to.Body = class, f.Shown, f.Words, wire.StreamError
}

// spoil makes of a good reply what needs to know no more of it.
func (d Spoil) spoil(to *wire.Reply) {
	to.Body = d.Body
	switch d.Body {
	case wire.SilentEnd, wire.CutBody:
		to.Class = wire.Disconnected
	case wire.Garbage, wire.WrongType:
		to.Class, to.Tokens = wire.ServerError, 0
	}
	to.Shown = to.Class
}

// noHead in work.head says that no head leaves.
const noHead time.Duration = -1

// endBeforeHead ends the work on a stream when its head should leave.
func (w *work) endBeforeHead(stream bool, _ draw.Rand) {
	if stream && w.head != noHead {
		w.whole, w.tokens = w.head, 0
	}
}

// endAfterHead ends the work on a stream when its head has just left, and with
// that its first token.
func (w *work) endAfterHead(stream bool, _ draw.Rand) {
	if stream && w.head != noHead {
		w.whole, w.tokens = w.head+1, min(w.tokens, 1)
	}
}

// stopAt ends the work after so many tokens, if it has more. They come evenly
// between the head and the end.
func (w *work) stopAt(tokens uint32) {
	if tokens < w.tokens {
		first := max(w.head, 0)
		hi, lo := bits.Mul64(uint64(w.whole-first), uint64(tokens))
		between, _ := bits.Div64(hi, lo, uint64(w.tokens))
		w.whole, w.tokens = first+time.Duration(between), tokens
	}
}
