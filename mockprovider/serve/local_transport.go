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

// transport carries requests to a handler in the same process, without
// sockets. It is what a client has between itself and a server otherwise: it
// breaks off when the client's context ends, and connections break when the
// server breaks them.
type localTransport struct {
	handler http.Handler
	address string // where requests seem to come from
}

// errReset is what a client sees of a connection that the server resets.
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
			case r.Context().Err() != nil: // the handler may have noticed before us
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
			err = io.EOF // the server closed without a word
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

// inProcess is both ends of a connection: the server's ResponseWriter and, as
// an inProcessBody, what the client reads. What was written and not read is
// kept, as kernels keep it, so that a client that forgets to close a body holds
// up nobody.
type connection struct {
	header  http.Header
	cancel  context.CancelFunc
	started chan struct{} // closed when there is a status, or an error instead

	mu         sync.Mutex
	cond       sync.Cond
	status     int
	sentHeader http.Header // as it was when the status was written
	buf        []byte
	err        error // why no more will come; io.EOF if all is there
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

// SetWriteDeadline makes an http.ResponseController content: nothing in this
// process is slow.
func (*connection) SetWriteDeadline(time.Time) error { return nil }

// reset breaks the connection.
func (w *connection) reset() { w.end(errReset) }

// end says why no more will be written; the first reason stays.
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

// breakOff is the client's end of it: what has not been read is lost.
func (w *connection) abort(why error) {
	w.end(why)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf, w.err = nil, why
}

// inProcessBody is the client's end.
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
