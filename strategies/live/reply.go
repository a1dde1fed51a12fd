package live

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
)

// reply is a response of which the beginning has been read.
type reply struct {
	resp   *http.Response     // nil for none
	buf    []byte             // what has been read of the body; never changed
	rest   bool               // there is more of it
	err    error              // how reading it ended, if not well
	cancel context.CancelFunc // ends its attempt; nil if that needs no end
	ride   *ride              // that of several calls; nil if it is one's
}

// whole reports whether all there is has been read.
func (r *reply) whole() bool { return !r.rest }

// close gives the connection back.
func (r *reply) close() {
	if r.resp != nil {
		r.resp.Body.Close()
	}
	if r.cancel != nil {
		r.cancel()
	}
	*r = reply{}
}

// response is the response as the caller gets it, whose body begins with what
// has been read.
func (r *reply) response(req *http.Request) *http.Response {
	resp := r.resp
	switch {
	case !r.rest:
		resp.Body.Close()
		resp.Body = &rejoined{buf: r.buf, err: r.err}
	case resp.StatusCode == http.StatusSwitchingProtocols: // no body, but a connection
	case len(r.buf) > 0 || r.cancel != nil:
		resp.Body = &rejoined{buf: r.buf, body: resp.Body, cancel: r.cancel}
	}
	if resp.Request == nil {
		resp.Request = req
	}
	*r = reply{}
	return resp
}

// copied is the same reply for another caller, as far as it is there.
func (r *reply) copied() reply {
	if r.resp == nil {
		return reply{}
	}
	resp := *r.resp
	resp.Header, resp.Trailer = resp.Header.Clone(), resp.Trailer.Clone()
	resp.Body, resp.Request = http.NoBody, nil
	if r.rest {
		resp.ContentLength = int64(len(r.buf))
		resp.Header.Del("Content-Length")
	}
	return reply{resp: &resp, buf: r.buf, err: r.err}
}

// rejoined is a body whose beginning was read before. It may be closed while it
// is read, as the bodies of net/http may.
type rejoined struct {
	buf    []byte
	body   io.ReadCloser // nil if there is no more
	err    error         // how it ends then; io.EOF if nil
	cancel context.CancelFunc
	closed atomic.Bool
}

// Read implements io.Reader.
func (r *rejoined) Read(p []byte) (int, error) {
	switch {
	case r.closed.Load():
		return 0, http.ErrBodyReadAfterClose
	case len(r.buf) > 0:
		n := copy(p, r.buf)
		r.buf = r.buf[n:]
		return n, nil
	case r.body != nil:
		return r.body.Read(p)
	case r.err != nil:
		return 0, r.err
	}
	return 0, io.EOF
}

// Close implements io.Closer.
func (r *rejoined) Close() (err error) {
	r.closed.Store(true)
	if r.body != nil {
		err = r.body.Close()
	}
	if r.cancel != nil {
		r.cancel()
	}
	return err
}
