package live

import (
	"errors"
	"fmt"
)

// document is what a splitting strategy has sent in pieces, and the answers so
// far.
type document struct{ pieces, answers [][]byte }

// nextPiece is what a call of a splitting strategy sends next; nil if that is its
// request as it came.
func (c *caller) nextPiece() *made {
	i, of := c.t.program.Pieces[0](&c.call)
	if of == 0 {
		return nil
	}
	m, doc := &made{from: c.asked, of: of}, &c.document
	if len(doc.pieces) != of {
		if doc.pieces, m.err = c.split(of); m.err != nil {
			return m
		}
		doc.answers = nil
	}
	switch n := len(doc.answers); {
	case i > n: // the strategy is content with the last
		doc.answers = append(doc.answers[:n:n], c.last.buf)
	case i < n: // it begins afresh
		doc.answers = doc.answers[:i]
	}
	n := uint32(of)
	m.from.InputTokens, m.from.OutputTokens = (m.from.InputTokens+n-1)/n, (m.from.OutputTokens+n-1)/n
	m.body, m.before = doc.pieces[i], doc.answers
	return m
}

// split takes the request apart.
func (c *caller) split(of int) ([][]byte, error) {
	text, ok := c.body.all()
	if !ok {
		return nil, errNotSplit
	}
	pieces, err := c.t.cfg.Split(c.req, text, of)
	if err != nil {
		return nil, err
	}
	if len(pieces) != of {
		return nil, fmt.Errorf("live: Config.Split has made %d pieces instead of %d", len(pieces), of)
	}
	for i, p := range pieces {
		if len(p) == 0 {
			return nil, fmt.Errorf("live: piece %d that Config.Split has made has no body", i+1)
		}
	}
	return pieces, nil
}

// errNotSplit is why a request is not split.
var errNotSplit = errors.New("live: the request has no body to split, or one that is too long to keep and has no GetBody; set GetBody, or a larger MaxBody")
