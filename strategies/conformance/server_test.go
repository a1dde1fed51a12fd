package conformance

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing/iotest"
	"time"
)

// answer is the reply of a scripted server to one request.
type answer struct {
	status int
	header string // "name: value" lines
	body   string
	// reset resets the connection before the headers, cut within the body.
	reset, cut bool
}

// server replies with a script, whose last reply is repeated, and records the times of
// requests. It is an in-process transport, so that its time is virtual in synctest.
type server struct {
	script []answer
	start  time.Time
	at     []time.Duration
	open   int // bodies that are not closed
}

func newServer(script ...answer) *server { return &server{script: script, start: time.Now()} }

// RoundTrip implements http.RoundTripper.
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	a := s.script[min(len(s.at), len(s.script)-1)]
	s.at = append(s.at, time.Since(s.start))
	if a.reset {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	h := http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(a.body))}}
	for line := range strings.Lines(a.header) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		h.Set(name, value)
	}
	var body io.Reader = strings.NewReader(a.body)
	if a.cut {
		body = io.MultiReader(strings.NewReader(a.body[:len(a.body)/2]), iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	s.open++
	return &http.Response{
		StatusCode: a.status, Status: strconv.Itoa(a.status) + " " + http.StatusText(a.status),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: &tracked{body, &s.open}, ContentLength: int64(len(a.body)), Request: r,
	}, nil
}

// waits returns the time from each attempt to the next.
func (s *server) waits() []time.Duration {
	var all []time.Duration
	for i := 1; i < len(s.at); i++ {
		all = append(all, s.at[i]-s.at[i-1])
	}
	return all
}

// tracked is a body that counts as open until it is closed.
type tracked struct {
	io.Reader
	open *int
}

func (t *tracked) Close() error {
	if t.open == nil {
		return errors.New("closed twice")
	}
	*t.open--
	t.open = nil
	return nil
}
