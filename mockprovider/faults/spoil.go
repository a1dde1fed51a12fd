package faults

import (
	"errors"
	"fmt"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Spoil makes answers of work that was done go wrong on the wire, under the
// status 200 that they began with.
type Spoil struct {
	// Body is what becomes of them. StreamError, SilentEnd and TruncatedBody break
	// off, and free the slot, after Tokens of the answer or, if it has fewer, in
	// place of its end: with an error event, with a clean end that lacks the
	// finish marker, and by the end of the connection. Garbage is text that is no
	// JSON, WrongType an HTML page, Doubled the answer twice. The first two stand
	// in the answer's place when its work is done: no head leaves before them.
	//
	// Of a reply that is not a stream nothing has left before it is whole, so
	// there an error event is an ordinary error, a clean end leaves text that is
	// no JSON, and a broken one no tokens that a client could use.
	Body   wire.Body `required:"stream_error" about:"What the reply becomes."`
	Tokens uint32    `unit:"tokens" default:"0" about:"After how many tokens the answer breaks off, for stream_error, silent_end and cut_body."`
	// Class is that of a StreamError, Overloaded if it is not given.
	Class wire.Class `except:"ok timeout disconnected cancelled" default:"overloaded" about:"The class of the error, for stream_error."`
	// AtOnce, for Garbage and WrongType: it is a gateway that answers, in place
	// of the provider and at once.
	AtOnce bool `about:"Whether the reply comes at once and without work, as from a gateway, for garbage and wrong_type."`
}

var spoilNames = [wire.NumBodies]string{
	wire.StreamError: "stream error", wire.SilentEnd: "silent end", wire.TruncatedBody: "cut body",
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
		return errors.New("state what becomes of the answer: a stream error, a silent end, a cut body, garbage, a wrong type or doubled")
	case d.Tokens != 0 && !d.Body.Begun():
		return errors.New("it has no place for a number of tokens; only what breaks off has")
	case d.Class != wire.OK && d.Body != wire.StreamError:
		return errors.New("it has no class; only a stream error has")
	case d.Class >= wire.Timeout:
		return fmt.Errorf("no provider sends %v in a stream", d.Class)
	case d.AtOnce && !d.replaces():
		return errors.New("it is made of an answer, so it cannot come at once; only garbage and wrong type can")
	}
	return nil
}

// replaces reports whether something else stands in the answer's place.
func (d Spoil) replaces() bool { return d.Body == wire.Garbage || d.Body == wire.WrongType }

// Hooks implements Disturbance.
func (d Spoil) Hooks(mockprovider.Space) mockprovider.Hooks {
	if d.AtOnce {
		return mockprovider.Hooks{Arrive: func(a *mockprovider.Arrival) {
			reply := wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}}
			d.spoil(&reply)
			a.Reply(&reply)
		}}
	}
	h := mockprovider.Hooks{End: d.end}
	switch {
	case d.replaces():
		h.Work = func(w *mockprovider.Work, _ *wire.Request, _ draw.Rand) { w.Head = mockprovider.NoHead }
	case d.Body.Begun():
		h.Work = func(w *mockprovider.Work, r *wire.Request, _ draw.Rand) {
			if r.Stream || d.Body == wire.StreamError {
				w.StopAt(d.Tokens)
			}
		}
	}
	return h
}

// end spoils the reply at the end of work.
func (d Spoil) end(e *mockprovider.End) {
	stream := e.Request.Stream
	if d.Body != wire.StreamError {
		switch {
		case stream && d.Body.Begun():
			e.Reply.Tokens = min(d.Tokens, e.Reply.Tokens)
		case d.Body == wire.SilentEnd && !stream:
			d.Body = wire.Garbage
		case d.Body == wire.TruncatedBody:
			e.Reply.Tokens = 0
		}
		d.spoil(e.Reply)
		return
	}
	class := d.Class
	if class == wire.OK {
		class = wire.Overloaded
	}
	if !stream {
		e.Refuse(class, &mockprovider.Refusal{})
		return
	}
	form := e.Form(class)
	e.Reply.Class, e.Reply.Shown, e.Reply.Words, e.Reply.Body = class, form.Shown, form.Words, wire.StreamError
}

// spoil corrupts a successful reply using only the reply.
func (d Spoil) spoil(to *wire.Reply) {
	to.Body = d.Body
	switch d.Body {
	case wire.SilentEnd, wire.TruncatedBody:
		to.Class = wire.ConnectionLost
	case wire.Garbage, wire.WrongType:
		to.Class, to.Tokens = wire.ServerError, 0
	}
	to.Shown = to.Class
}
