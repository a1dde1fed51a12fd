package serve

import (
	"context"
	"net"
	"time"
)

// TestServer is a server on a loopback port, for tests.
type TestServer struct {
	*Server
	// URL is the base URL, such as http://127.0.0.1:41234, without a final slash.
	URL string
}

// TB is the part of *testing.T that NewTestServer needs.
type TB interface {
	Helper()
	Fatal(args ...any)
	Cleanup(func())
}

// NewTestServer starts a server on a loopback port and stops it when the test ends. An
// invalid configuration fails the test. Without sockets, use New and Server.Client,
// which also work in virtual time.
func NewTestServer(t TB, cfg Config) *TestServer {
	t.Helper()
	setDefault(&cfg.Grace, 100*time.Millisecond) // a fake clock may never advance
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
