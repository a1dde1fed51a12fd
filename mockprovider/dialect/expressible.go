package dialect

import "herdlab/mockprovider/wire"

// Image returns r as the dialect's bytes can say it: the reply about which
// every reader learns the same from the bytes as from the compact form. It
// takes away what has no place there and rounds hints up to what their spelling
// can write. streamed says that the request asked for a stream.
func (d *Dialect) Expressible(r wire.Reply, streamed bool) wire.Reply {
	streamed = streamed && d.Streams(&r)
	if r.Body == wire.StreamError && !streamed && d.templates.of(&r).body() == wire.CodeBody {
		r.Body = wire.CodeBody // which is what an error in a 200 is there
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
		r.RetryAfter, r.Words = wire.NoHint, 0
	}
	if r.Body != wire.CodeBody {
		r.Code = 0
	}
	if whole := r.Body == wire.Completion || r.Body == wire.Doubled || r.Body == wire.SilentEnd; !whole && !streamed {
		r.Tokens, r.Marks = 0, r.Marks&^wire.DegradedReply // nothing tells of the answer
	}
	if d.hidesModel {
		r.Marks &^= wire.DegradedReply
	}
	told := limits.marks(r.Body)
	r.Marks |= told &^ wire.ResetAsTime
	if r.Marks&wire.ResetAsTime != told&wire.ResetAsTime {
		r.Marks |= wire.HidesReset // a wait is not the same as a time to a clock that is wrong
	}
	switch {
	case r.RetryAfter == wire.NoHint:
	case !d.hasPlaceFor(r.Spelled) || streamed && r.Spelled.InHeader():
		r.RetryAfter = wire.NoHint // there is no place for it, or it is gone by then
	case r.Spelled != wire.BodySeconds:
		r.RetryAfter = roundUp(r.RetryAfter, r.Spelled.Unit())
	}
	return r
}
