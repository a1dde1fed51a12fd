package serve

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// OriginHeader marks replies that the harness gives for its own protection, so
// that nobody takes them for the provider's. Its value is then OriginHarness.
const (
	OriginHeader  = "X-Herdlab-Origin"
	OriginHarness = "harness"
)

// tooMany is what a connection over the limit is told before it is closed.
const tooManyConnections = "HTTP/1.1 503 Service Unavailable\r\n" + OriginHeader + ": " + OriginHarness +
	"\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 21\r\nConnection: close\r\n\r\ntoo many connections\n"

// limitListener accepts at most so many connections at a time. Others are told
// so, and not left to wait: a client that waits in a kernel's backlog would take
// the harness for a slow provider.
type limitListener struct {
	net.Listener
	limit    int64
	open     *atomic.Int64
	refused  func(reason string) // counts
	refusing atomic.Int64
}

// Accept implements net.Listener.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.limit {
			return &limitedConn{Conn: c, listener: l}, nil
		}
		l.open.Add(-1)
		l.refused("connections")
		if l.refusing.Add(1) > maxRefusals {
			l.refusing.Add(-1)
			_ = c.Close()
			continue
		}
		go func() {
			defer l.refusing.Add(-1)
			refuseConnection(c)
		}()
	}
}

// mostRefusing is how many connections are refused in words at a time; more are
// closed without. farewell is how long that may take.
const (
	maxRefusals    = 256
	refusalTimeout = 250 * time.Millisecond
)

// refuse reads a request, tells that there are too many, and closes. Clients
// take an answer before their question for a broken connection, and so they do
// what was closed while something they sent was unread.
func refuseConnection(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(refusalTimeout))
	r := bufio.NewReader(io.LimitReader(c, hardHeader))
	for {
		line, err := r.ReadSlice('\n')
		if err != nil || len(bytes.TrimSpace(line)) == 0 {
			break
		}
	}
	if _, err := io.WriteString(c, tooManyConnections); err != nil {
		return
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.CloseWrite()
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(c, 64<<10))
}

type limitedConn struct {
	net.Conn
	listener *limitListener
	once     sync.Once
}

// unasked is how net/http goes on after the status line where it refuses what it
// cannot read by itself: headers beyond all bounds, and what is no HTTP.
const parseErrorHeaders = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// Write implements net.Conn. What net/http refuses by itself gets our mark.
func (c *limitedConn) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(p, []byte("HTTP/1.1 ")) {
		return c.Conn.Write(p)
	}
	status, rest, _ := bytes.Cut(p, []byte("\r\n"))
	if !bytes.HasPrefix(rest, []byte(parseErrorHeaders)) {
		return c.Conn.Write(p)
	}
	c.listener.refused("unreadable")
	marked := slices.Concat(status, []byte("\r\n"+OriginHeader+": "+OriginHarness+"\r\n"), rest)
	if n, err := c.Conn.Write(marked); err != nil {
		return min(n, len(p)), err
	}
	return len(p), nil
}

// SetLinger makes the connection one that can be reset.
func (c *limitedConn) SetLinger(seconds int) error {
	if t, ok := c.Conn.(*net.TCPConn); ok {
		return t.SetLinger(seconds)
	}
	return nil
}

// CloseWrite lets net/http say goodbye to who is still sending, and not cut off
// its own last words.
func (c *limitedConn) CloseWrite() error {
	if t, ok := c.Conn.(*net.TCPConn); ok {
		return t.CloseWrite()
	}
	return nil
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.once.Do(func() { c.listener.open.Add(-1) })
	return c.Conn.Close()
}
