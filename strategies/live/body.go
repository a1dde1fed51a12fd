package live

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
)

// body is the body of the caller's request, which may be sent several times.
type body struct {
	original  io.ReadCloser // not used yet
	untouched bool          // and not read either: the request can be sent as it is
	again     func() (io.ReadCloser, error)
	bytes     []byte // all of it, if known
	known     bool
	none      bool
	most      int64 // how much of it may be kept
}

// errBody is why a call ends whose body cannot be sent again.
var errBody = errors.New("live: the request's body is too long to keep and has no GetBody, so it cannot be sent again; set GetBody, or a larger MaxBody")

// takeBody takes the body of a request. One that can be made again is left
// alone; another is read if it is not longer than most, and the error is how that
// failed.
func takeBody(req *http.Request, most int64) (body, error) {
	switch {
	case req.Body == nil || req.Body == http.NoBody:
		return body{none: true}, nil
	case req.GetBody != nil:
		return body{original: req.Body, untouched: true, again: req.GetBody, most: most}, nil
	case req.ContentLength > most:
		return body{original: req.Body, untouched: true}, nil
	}
	// Whoever writes it may have stopped: then its caller's patience counts.
	defer context.AfterFunc(req.Context(), func() { req.Body.Close() })()
	var buf bytes.Buffer
	if req.ContentLength > 0 {
		buf.Grow(int(req.ContentLength) + bytes.MinRead)
	}
	n, err := io.Copy(&buf, io.LimitReader(req.Body, most+1))
	if err != nil {
		return body{original: req.Body}, err
	}
	if n > most {
		return body{original: struct {
			io.Reader
			io.Closer
		}{io.MultiReader(&buf, req.Body), req.Body}}, nil
	}
	req.Body.Close()
	return body{bytes: buf.Bytes(), known: true}, nil
}

// sendable reports whether the caller's request can be sent as it came.
func (b *body) sendable() bool { return b.original != nil && b.untouched || b.none }

// ready reports whether there can be another attempt.
func (b *body) ready() bool { return b.original != nil || b.none || b.known || b.again != nil }

// all returns the whole body if it can be had without spending it.
func (b *body) all() ([]byte, bool) {
	if b.known || b.none || b.again == nil {
		return b.bytes, b.known
	}
	r, err := b.again()
	if err != nil {
		return nil, false
	}
	defer r.Close()
	all, err := io.ReadAll(io.LimitReader(r, b.most+1))
	if err != nil || int64(len(all)) > b.most {
		return nil, false
	}
	b.bytes, b.known = all, true
	return all, true
}

// open returns a reader for the next attempt.
func (b *body) open() (io.ReadCloser, error) {
	switch {
	case b.none:
		return http.NoBody, nil
	case b.original != nil:
		r := b.original
		b.original = nil
		return r, nil
	case b.known:
		return io.NopCloser(bytes.NewReader(b.bytes)), nil
	}
	return b.again()
}

// close closes what was never used.
func (b *body) close() {
	if b.original != nil {
		b.original.Close()
		b.original = nil
	}
}
