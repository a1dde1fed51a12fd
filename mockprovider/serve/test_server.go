package serve

import (
	"context"
	"net"
	"time"
)

// TestServer is a server on a loopback port, for tests.
type TestServer struct {
	*Server
	// URL is where it answers, such as http://127.0.0.1:41234, without a slash
	// at the end.
	URL string
}

// TB is what NewTestServer needs of a test: *testing.T has it.
type TB interface {
	Helper()
	Fatal(args ...any)
	Cleanup(func())
}

// NewTestServer starts a server on a loopback port and stops it when the test
// ends. A configuration that is not valid fails the test. Where no sockets are
// needed, New and Server.Client do with less, also in virtual time.
func NewTestServer(t TB, cfg Config) *TestServer {
	t.Helper()
	setDefault(&cfg.Grace, 100*time.Millisecond) // a fake clock may have stopped for ever
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-over; err != nil {
			t.Fatal(err)
		}
	})
	return &TestServer{Server: s, URL: "http://" + l.Addr().String()}
}
