package dialect

import "herdlab/mockprovider/wire"

// Expressible returns the reply that the bytes of the dialect can express:
// every reader has the same outcome from it as from the bytes that Write
// writes. It removes what the bytes have no place for, and rounds hints up to
// the unit in which they are written. streamed is true if the request asked for
// a stream.
func (d *Dialect) Expressible(r wire.Reply, streamed bool) wire.Reply {
	streamed = streamed && d.Streams(&r)
	if r.Body == wire.StreamError && !streamed && d.templates.of(&r).body() == wire.CodeBody {
		r.Body = wire.CodeBody // in this dialect, an error with status 200 is a business code
	}
	limits := &d.limits
	refusal := r.Body == wire.ErrorBody || r.Body == wire.CodeBody
	if refusal || r.Body == wire.StreamError {
		writer := d.errorDialect(&r)
		p := writer.templates.of(&r)
		r.Words, r.Shown = p.keywords, writer.templates.shown(r.Shown)
		if r.Body == wire.CodeBody {
			if limits = &writer.limits; r.Code == 0 {
				r.Code = p.Number
			}
		}
	} else {
		r.Hint.Value, r.Words = wire.NoHint, 0
	}
	if r.Body != wire.CodeBody {
		r.Code = 0
	}
	if whole := r.Body == wire.Completion || r.Body == wire.Doubled || r.Body == wire.SilentEnd; !whole && !streamed {
		r.Tokens, r.Marks = 0, r.Marks&^wire.DegradedReply // the bytes contain nothing about the answer
	}
	if d.hidesModel {
		r.Marks &^= wire.DegradedReply
	}
	told := limits.marks(r.Body)
	r.Marks |= told &^ wire.ResetAsTime
	if r.Marks&wire.ResetAsTime != told&wire.ResetAsTime {
		r.Marks |= wire.HidesReset // a wait and a time differ for a clock that is wrong
	}
	switch {
	case r.Hint.Value == wire.NoHint:
	case !d.hasPlaceFor(r.Hint.Spelling) || streamed && r.Hint.Spelling.InHeader():
		r.Hint.Value = wire.NoHint // there is no place for it, or the headers are already sent
	case r.Hint.Spelling != wire.BodySeconds:
		r.Hint.Value = roundUp(r.Hint.Value, r.Hint.Spelling.Unit())
	}
	return r
}
