package dialect

import "herdlab/mockprovider/wire"

// Streams reports whether r can be written as a stream: an answer, complete or
// broken off. A refusal has a whole body even if the request asked for a
// stream.
func (d *Dialect) Streams(r *wire.Reply) bool {
	switch r.Body {
	case wire.Completion, wire.StreamError, wire.SilentEnd, wire.TruncatedBody, wire.Doubled:
		return r.Status < 400
	}
	return false
}

// Head writes the status and headers of a stream, without a body.
func (d *Dialect) Head(m *Message, c *Context, r *wire.Reply) {
	m.Headers, m.Body = m.Headers[:0], m.Body[:0]
	d.head(m, c, r, d.streamContentType())
}

func (d *Dialect) streamContentType() string {
	if d.streamType != "" {
		return d.streamType
	}
	return sseType
}

// Begin appends the frames before the first token.
func (d *Dialect) Begin(b []byte, c *Context, r *wire.Reply) []byte {
	return d.codec.appendStart(b, c, c.served(r))
}

// Token appends the frame of the i-th token, from 0.
func (d *Dialect) Token(b []byte, c *Context, r *wire.Reply, i int) []byte {
	return d.codec.appendToken(b, c, c.served(r), i, Piece(i))
}

// End appends the frames after the last token; sent is the number of tokens
// that were sent. It appends nothing if r.Body is wire.SilentEnd or
// wire.TruncatedBody: the server then ends the stream or breaks the connection.
func (d *Dialect) End(b []byte, c *Context, r *wire.Reply, sent int) []byte {
	a := answerOf(c, r)
	switch r.Body {
	case wire.Completion:
		return d.codec.appendEnd(b, c, &a)
	case wire.Doubled:
		b = d.codec.appendEnd(b, c, &a)
		b = d.Begin(b, c, r)
		for i := range sent {
			b = d.Token(b, c, r, i)
		}
		return d.codec.appendEnd(b, c, &a)
	case wire.StreamError:
		f := d.newFailure(c, r, new(Headers)) // the headers are already sent
		return d.codec.appendStreamError(b, c, &f, sent)
	}
	return b
}

// WriteStream writes a whole stream at once.
func (d *Dialect) WriteStream(m *Message, c *Context, r *wire.Reply) {
	d.Head(m, c, r)
	sent := Pieces(r.Tokens)
	m.Body = d.Begin(m.Body, c, r)
	for i := range sent {
		m.Body = d.Token(m.Body, c, r, i)
	}
	m.Body = d.End(m.Body, c, r, sent)
	m.Length, m.Broken = len(m.Body), r.Body == wire.TruncatedBody
}

// Pieces returns the number of pieces in a stream of an answer with that number
// of tokens. It is one per token, with an upper bound; the usage has the true
// number.
func Pieces(tokens uint32) int { return min(int(tokens), maxPieces) }
