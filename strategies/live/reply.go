package live

import (
	"bytes"
	"io"
	"net/http"
)

// reply is a response of which the beginning has been read.
type reply struct {
	resp *http.Response // nil for none
	buf  []byte         // what has been read of the body
	rest bool           // there is more of it
	err  error          // how reading it ended, if not well
}

// whole reports whether all there is has been read.
func (r *reply) whole() bool { return !r.rest }

// close gives the connection back.
func (r *reply) close() {
	if r.resp != nil {
		r.resp.Body.Close()
	}
	*r = reply{}
}

// response is the response as the caller gets it, whose body begins with what
// has been read.
func (r *reply) response(req *http.Request) *http.Response {
	resp := r.resp
	if r.rest {
		resp.Body = &rejoined{buf: r.buf, body: resp.Body}
	} else {
		resp.Body.Close()
		resp.Body = &rejoined{buf: r.buf, err: r.err}
	}
	if resp.Request == nil {
		resp.Request = req
	}
	*r = reply{}
	return resp
}

// copied is the same reply for another caller; all of it must be there.
func (r *reply) copied() reply {
	if r.resp == nil {
		return reply{}
	}
	resp := *r.resp
	resp.Header, resp.Trailer = resp.Header.Clone(), resp.Trailer.Clone()
	resp.Body = http.NoBody
	return reply{resp: &resp, buf: bytes.Clone(r.buf), err: r.err}
}

// rejoined is a body whose beginning was read before.
type rejoined struct {
	buf  []byte
	body io.ReadCloser // nil if there is no more
	err  error         // how it ends then; io.EOF if nil
}

// Read implements io.Reader.
func (r *rejoined) Read(p []byte) (int, error) {
	switch {
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
func (r *rejoined) Close() error {
	r.buf, r.err = nil, nil
	if r.body != nil {
		return r.body.Close()
	}
	return nil
}
