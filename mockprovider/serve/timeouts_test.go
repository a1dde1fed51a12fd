package serve

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/sim/draw"
)

// pipes is a listener without sockets, so that timeouts of the server are in virtual
// time.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// A client that does not send its body is refused, and one that does not send its
// headers is disconnected. A client may wait longer for an answer, and then send
// another request for a while.
func TestTimeouts(t *testing.T) {
	const post, length = "POST /v1/chat/completions HTTP/1.1\r\nHost: herd\r\nAuthorization: Bearer sk-1\r\n", "Content-Length: 35\r\n\r\n"
	for _, c := range []struct {
		name, sends    string
		status         int
		origin         string
		least, longest time.Duration
	}{
		{"no body", post + length, 408, OriginHarness, bodyTime, headerTime + bodyTime},
		{"half a body", post + length + `{"model":`, 408, OriginHarness, bodyTime, headerTime + bodyTime},
		{"no headers", "", 0, "", headerTime, headerTime},
		{"half the headers", post, 0, "", headerTime, headerTime},
		{"all of it", post + length + `{"model":"demo","messages":["hi!"]}`, 200, "", 10 * time.Minute, 10 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := Must(Config{Provider: mockprovider.Config{Capacity: mockprovider.Capacity{Service: mockprovider.Service{First: draw.Const(10 * time.Minute)}}}})
				ctx, stop := context.WithCancel(t.Context())
				l, over := make(pipes), make(chan error, 1)
				go func() { over <- s.Serve(ctx, l) }()
				near, far := net.Pipe()
				l <- far
				start := time.Now()
				_, err := io.WriteString(near, c.sends)
				require.NoError(t, err)
				r := bufio.NewReader(near)
				resp, err := http.ReadResponse(r, nil)
				took := time.Since(start)
				if c.status == 0 {
					require.ErrorIs(t, err, io.ErrUnexpectedEOF)
				} else {
					require.NoError(t, err)
					require.Equal(t, c.status, resp.StatusCode)
					require.Equal(t, c.origin, resp.Header.Get(OriginHeader))
				}
				require.GreaterOrEqual(t, took, c.least)
				require.LessOrEqual(t, took, c.longest)
				if c.status == http.StatusOK {
					start = time.Now()
					_, err = io.Copy(io.Discard, r)
					require.NoError(t, err)
					require.Equal(t, idleTime, time.Since(start), "an idle connection is closed")
				}
				require.NoError(t, near.Close())
				stop()
				require.NoError(t, <-over)
			})
		})
	}
}
