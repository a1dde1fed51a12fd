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

// OriginHeader marks replies of the harness itself, which are not the provider's. Its
// value is OriginHarness.
const (
	OriginHeader  = "X-Herdlab-Origin"
	OriginHarness = "harness"
)

// tooManyConnections is the reply to a connection over the limit.
const tooManyConnections = "HTTP/1.1 503 Service Unavailable\r\n" + OriginHeader + ": " + OriginHarness +
	"\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 21\r\nConnection: close\r\n\r\ntoo many connections\n"

// limitListener accepts a limited number of connections at a time. It replies to
// further ones at once, because a client that waits in the kernel's backlog would
// take the harness for a slow provider.
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

// maxRefusals is the number of connections that get a reply at a time; others are
// closed without one. refusalTimeout limits its duration.
const (
	maxRefusals    = 256
	refusalTimeout = 250 * time.Millisecond
)

// refuseConnection reads a request, writes the reply, and closes. It reads first,
// because clients report a reset if the reply comes before they have sent their
// request, or if the connection is closed with unread data.
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

// parseErrorHeaders follows the status line in the replies of net/http to requests
// that it cannot parse: headers that are too large, and data that is not HTTP.
const parseErrorHeaders = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// Write implements net.Conn. It adds OriginHeader to the replies of net/http itself.
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

// SetLinger lets the connection be reset.
func (c *limitedConn) SetLinger(seconds int) error {
	if t, ok := c.Conn.(*net.TCPConn); ok {
		return t.SetLinger(seconds)
	}
	return nil
}

// CloseWrite lets net/http close its side while the client is still sending, so that
// its reply is not lost.
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
