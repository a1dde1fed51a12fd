package live

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
)

// reply is a response and the part of its body that has been read.
type reply struct {
	resp   *http.Response     // nil if there is no reply
	buf    []byte             // the part of the body that has been read; never modified
	more   bool               // buf is not the whole body
	err    error              // of reading the body, if not io.EOF
	cancel context.CancelFunc // ends the attempt; nil if it has ended
	batch  *batchReply        // nil if the reply is for one call
}

// complete reports whether the body has been read to its end.
func (r *reply) complete() bool { return !r.more }

// close discards the reply and frees its connection.
func (r *reply) close() {
	if r.resp != nil {
		r.resp.Body.Close()
	}
	if r.cancel != nil {
		r.cancel()
	}
	*r = reply{}
}

// response returns the response for the caller: its body is the part that has been
// read, followed by the rest.
func (r *reply) response(req *http.Request) *http.Response {
	resp := r.resp
	switch {
	case !r.more:
		resp.Body.Close()
		resp.Body = &prefixedBody{buf: r.buf, err: r.err}
	case resp.StatusCode == http.StatusSwitchingProtocols: // the body is a connection
	case len(r.buf) > 0 || r.cancel != nil:
		resp.Body = &prefixedBody{buf: r.buf, body: resp.Body, cancel: r.cancel}
	}
	if resp.Request == nil {
		resp.Request = req
	}
	*r = reply{}
	return resp
}

// clone returns a copy, with the part of the body that has been read.
func (r *reply) clone() reply {
	if r.resp == nil {
		return reply{}
	}
	resp := *r.resp
	resp.Header, resp.Trailer = resp.Header.Clone(), resp.Trailer.Clone()
	resp.Body, resp.Request = http.NoBody, nil
	if r.more {
		resp.ContentLength = int64(len(r.buf))
		resp.Header.Del("Content-Length")
	}
	return reply{resp: &resp, buf: r.buf, err: r.err}
}

// prefixedBody is a body whose beginning was read before. Like the bodies of
// net/http, it may be closed during a Read.
type prefixedBody struct {
	buf    []byte
	body   io.ReadCloser // nil if buf is the rest
	err    error         // after buf; io.EOF if nil
	cancel context.CancelFunc
	closed atomic.Bool
}

// Read implements io.Reader.
func (r *prefixedBody) Read(p []byte) (int, error) {
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
func (r *prefixedBody) Close() (err error) {
	r.closed.Store(true)
	if r.body != nil {
		err = r.body.Close()
	}
	if r.cancel != nil {
		r.cancel()
	}
	return err
}
