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
	original io.ReadCloser // nil once it has been sent
	unread   bool          // original has not been read: the request can be sent as it is
	getBody  func() (io.ReadCloser, error)
	bytes    []byte // the whole body, if known
	known    bool
	empty    bool
	limit    int64 // the size up to which it is kept
}

// errBody ends a call whose body cannot be sent again.
var errBody = errors.New("live: the request's body is too long to be kept and has no GetBody, so it cannot be sent again; set GetBody, or increase MaxBody")

// newBody returns the body of req. A body with GetBody is not read. Another is
// read into memory if it is not longer than limit bytes.
func newBody(req *http.Request, limit int64) (body, error) {
	switch {
	case req.Body == nil || req.Body == http.NoBody:
		return body{empty: true}, nil
	case req.GetBody != nil:
		return body{original: req.Body, unread: true, getBody: req.GetBody, limit: limit}, nil
	case req.ContentLength > limit:
		return body{original: req.Body, unread: true}, nil
	}
	// The body may block, for example if it is a pipe.
	defer context.AfterFunc(req.Context(), func() { req.Body.Close() })()
	var buf bytes.Buffer
	if req.ContentLength > 0 {
		buf.Grow(int(req.ContentLength) + bytes.MinRead)
	}
	n, err := io.Copy(&buf, io.LimitReader(req.Body, limit+1))
	if err != nil {
		return body{original: req.Body}, err
	}
	if n > limit {
		return body{original: struct {
			io.Reader
			io.Closer
		}{io.MultiReader(&buf, req.Body), req.Body}}, nil
	}
	req.Body.Close()
	return body{bytes: buf.Bytes(), known: true}, nil
}

// sendable reports whether the caller's request can be sent unchanged.
func (b *body) sendable() bool { return b.original != nil && b.unread || b.empty }

// ready reports whether the body can be sent once more.
func (b *body) ready() bool { return b.original != nil || b.empty || b.known || b.getBody != nil }

// all returns the whole body, if it can be read and still be sent.
func (b *body) all() ([]byte, bool) {
	if b.known || b.empty || b.getBody == nil {
		return b.bytes, b.known
	}
	r, err := b.getBody()
	if err != nil {
		return nil, false
	}
	defer r.Close()
	all, err := io.ReadAll(io.LimitReader(r, b.limit+1))
	if err != nil || int64(len(all)) > b.limit {
		return nil, false
	}
	b.bytes, b.known = all, true
	return all, true
}

// open returns a reader of the body for the next attempt.
func (b *body) open() (io.ReadCloser, error) {
	switch {
	case b.empty:
		return http.NoBody, nil
	case b.original != nil:
		r := b.original
		b.original = nil
		return r, nil
	case b.known:
		return io.NopCloser(bytes.NewReader(b.bytes)), nil
	}
	return b.getBody()
}

// close closes the original body if it was never sent.
func (b *body) close() {
	if b.original != nil {
		b.original.Close()
		b.original = nil
	}
}
