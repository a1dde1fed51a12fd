package live

import (
	"errors"
	"fmt"
)

// sentPieces is the state of a call that a strategy splits: the pieces, and the
// answers so far.
type sentPieces struct{ pieces, answers [][]byte }

// nextPiece returns the request of the next attempt; nil for the caller's request.
func (c *callRun) nextPiece() *rewrite {
	i, total := c.t.program.Pieces[0](&c.call)
	if total == 0 {
		return nil
	}
	m, doc := &rewrite{from: c.demand, total: total}, &c.pieces
	if len(doc.pieces) != total {
		if doc.pieces, m.err = c.split(total); m.err != nil {
			return m
		}
		doc.answers = nil
	}
	switch n := len(doc.answers); {
	case i > n: // the last answer was a success
		doc.answers = append(doc.answers[:n:n], c.last.buf)
	case i < n: // the strategy starts again
		doc.answers = doc.answers[:i]
	}
	n := uint32(total)
	m.from.InputTokens, m.from.OutputTokens = (m.from.InputTokens+n-1)/n, (m.from.OutputTokens+n-1)/n
	m.body, m.answers = doc.pieces[i], doc.answers
	return m
}

// split calls Config.SplitRequest and checks the result.
func (c *callRun) split(total int) ([][]byte, error) {
	text, ok := c.body.all()
	if !ok {
		return nil, errNotSplit
	}
	pieces, err := c.t.cfg.SplitRequest(c.req, text, total)
	if err != nil {
		return nil, err
	}
	if len(pieces) != total {
		return nil, fmt.Errorf("live: Config.SplitRequest returned %d pieces instead of %d", len(pieces), total)
	}
	for i, p := range pieces {
		if len(p) == 0 {
			return nil, fmt.Errorf("live: Config.SplitRequest returned an empty body for piece %d", i+1)
		}
	}
	return pieces, nil
}

// errNotSplit is the error of a request that cannot be split.
var errNotSplit = errors.New("live: the request has no body to split, or one that is too long to be kept and has no GetBody; set GetBody, or increase MaxBody")
