package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// localTransport sends requests to a handler in the same process, without sockets.
// It behaves as a connection: the end of the client's context cancels the request,
// and the server can close or reset the connection.
type localTransport struct {
	handler http.Handler
	address string // the client's address
}

// errReset is the client's error if the server resets the connection.
var errReset error = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}

// RoundTrip implements http.RoundTripper.
func (t *localTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, hangUp := context.WithCancel(r.Context())
	body := r.Body
	if body == nil {
		body = http.NoBody
	}
	in := r.Clone(ctx)
	in.Body, in.RemoteAddr = body, t.address
	in.RequestURI = r.URL.RequestURI()
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	w := &connection{header: make(http.Header), started: make(chan struct{}), cancel: hangUp}
	w.cond.L = &w.mu
	stop := context.AfterFunc(r.Context(), func() { w.abort(context.Cause(r.Context())) })
	go func() {
		defer hangUp() // as a server does when a handler returns
		defer stop()
		defer body.Close()
		defer func() {
			switch p := recover(); {
			case r.Context().Err() != nil: // the handler may notice this first
				w.abort(context.Cause(r.Context()))
			case p == nil:
				w.WriteHeader(http.StatusOK)
				w.end(io.EOF)
			case p == http.ErrAbortHandler:
				w.end(io.ErrUnexpectedEOF)
			default:
				w.end(fmt.Errorf("serve: the handler panicked: %v", p))
			}
		}()
		t.handler.ServeHTTP(w, in)
	}()
	<-w.started
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status == 0 {
		hangUp()
		err := w.err
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF // the server closed the connection without a reply
		}
		return nil, err
	}
	length := int64(-1)
	if n, err := strconv.ParseInt(w.sentHeader.Get("Content-Length"), 10, 64); err == nil {
		length = n
	}
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sentHeader, Body: (*clientBody)(w), ContentLength: length, Request: r,
	}, nil
}

// connection is the server's ResponseWriter and, as a clientBody, the client's
// response body. It buffers without limit, so that a client that does not close a
// body does not block the server.
type connection struct {
	header  http.Header
	cancel  context.CancelFunc
	started chan struct{} // closed when status or err is set

	mu         sync.Mutex
	cond       sync.Cond
	status     int
	sentHeader http.Header // copied by WriteHeader
	buf        []byte
	err        error // after buf; io.EOF if the response is complete
}

// Header implements http.ResponseWriter.
func (w *connection) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *connection) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status != 0 || w.err != nil {
		return
	}
	w.status, w.sentHeader = status, w.header.Clone()
	close(w.started)
}

// Write implements http.ResponseWriter.
func (w *connection) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	w.buf = append(w.buf, p...)
	w.cond.Broadcast()
	return len(p), nil
}

// Flush implements http.Flusher.
func (w *connection) Flush() { w.WriteHeader(http.StatusOK) }

// SetWriteDeadline is for http.ResponseController; writes never block here.
func (*connection) SetWriteDeadline(time.Time) error { return nil }

// reset resets the connection.
func (w *connection) reset() { w.end(errReset) }

// end sets the error after the last byte; the first call counts.
func (w *connection) end(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	w.err = why
	if w.status == 0 {
		close(w.started)
	}
	w.cond.Broadcast()
}

// abort ends the connection from the client's side: unread data is lost.
func (w *connection) abort(why error) {
	w.end(why)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf, w.err = nil, why
}

// clientBody is the response body of a connection.
type clientBody connection

// Read implements io.Reader.
func (b *clientBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.buf) == 0 && b.err == nil {
		b.cond.Wait()
	}
	if len(b.buf) == 0 {
		return 0, b.err
	}
	n := copy(p, b.buf)
	b.buf = b.buf[n:]
	return n, nil
}

// Close implements io.Closer: the client hangs up.
func (b *clientBody) Close() error {
	b.cancel()
	(*connection)(b).abort(http.ErrBodyReadAfterClose)
	return nil
}
