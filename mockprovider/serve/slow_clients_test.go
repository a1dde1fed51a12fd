package serve

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const slowConnections = 10_000

// slowEnv makes the test binary run slow clients of that address.
const slowEnv = "HERDLAB_SLOW_CLIENTS_OF"

// slowClients keeps connections open with half a request, and sends a byte from time to
// time, until its output is closed.
func slowClients(address string) {
	conns := make([]net.Conn, 0, slowConnections)
	for range slowConnections {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_, err = io.WriteString(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: herd\r\nX-Slow: ")
		}
		if err != nil {
			fmt.Printf("after %d connections: %v\n", len(conns), err)
			return
		}
		conns = append(conns, c)
	}
	fmt.Println("all are there")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for i := 0; ; i = (i + 1) % slowConnections {
		time.Sleep(time.Millisecond)
		_, _ = conns[i].Write([]byte("x"))
	}
}

// With ten thousand connections that send half a request, a normal client gets its
// answers within 50 ms. The slow clients run in a process of their own because of the
// limit on file descriptors.
func TestTenThousandSlowConnections(t *testing.T) {
	if os.Getenv("HERDLAB_LONG") == "" {
		t.Skip("HERDLAB_LONG is not set")
	}
	const healthy = 1000
	s, url, stop := listening(t, Config{})
	herd := exec.Command(os.Args[0])
	herd.Env = append(os.Environ(), slowEnv+"="+strings.TrimPrefix(url, "http://"))
	hold, err := herd.StdinPipe()
	require.NoError(t, err)
	said, err := herd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, herd.Start())
	line := make([]byte, 100)
	n, err := said.Read(line)
	require.NoError(t, err)
	require.Equal(t, "all are there\n", string(line[:n]))
	require.Eventually(t, func() bool { return s.State().Connections == slowConnections }, 10*time.Second, 10*time.Millisecond)

	c := client(t)
	var took []time.Duration
	for range healthy {
		start := time.Now()
		require.Equal(t, http.StatusOK, ask(t, c, chat(t.Context(), t, url, false)).StatusCode)
		took = append(took, time.Since(start))
	}
	there := s.State().Connections
	slices.Sort(took)
	t.Logf("beside %d slow connections, of which %d were there at the end: p50 %v, p99 %v, most %v, each on a new connection",
		slowConnections, there, took[healthy/2], took[healthy*99/100], took[healthy-1])
	require.Less(t, took[healthy*99/100], 50*time.Millisecond)
	require.Greater(t, there, slowConnections/2, "too few slow clients for a test")
	require.NoError(t, hold.Close())
	_ = herd.Wait()
	require.NoError(t, stop())
}
