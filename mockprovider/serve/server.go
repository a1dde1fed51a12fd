package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// How patient the server is with its clients. They are bounds of the harness
// and not of the provider, and go by the real clock: they are about sockets.
const (
	headerTime = 10 * time.Second // to send the headers
	bodyTime   = 30 * time.Second // to send the body
	idleTime   = 2 * time.Minute  // between two requests
	writeTime  = 30 * time.Second // to take what is written, each time
	maxHeader  = 32 << 10         // bytes of headers
	// hardHeader is what net/http refuses by itself.
	hardHeader = 64 << 10
)

// Serve answers requests on l until ctx is done. Then it accepts no more,
// finishes what it has accepted, for as long as Config.Grace, and returns nil,
// or why lines of the access log are missing. Connections that will never be
// answered are closed at once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	l = &limitListener{Listener: l, limit: int64(s.cfg.MaxConnections), open: &s.connections, refused: s.metrics.harness.add}
	return errors.Join(s.serve(ctx, l, s, s.Close), s.accessLog.writeError())
}

// ServeAdmin answers administrators on l, which should not be reachable from
// elsewhere, until ctx is done. See Admin.
func (s *Server) ServeAdmin(ctx context.Context, l net.Listener, token string) error {
	l = &limitListener{Listener: l, limit: 64, open: new(atomic.Int64), refused: s.metrics.harness.add}
	return s.serve(ctx, l, s.Admin(token), func() {})
}

func (s *Server) serve(ctx context.Context, l net.Listener, h http.Handler, closing func()) error {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true) // some SDKs speak nothing else
	srv := &http.Server{
		Handler: h, MaxHeaderBytes: hardHeader, Protocols: protocols, ErrorLog: s.cfg.ErrorLog,
		ReadHeaderTimeout: headerTime, IdleTimeout: idleTime,
		ReadTimeout: headerTime + bodyTime, // which is over when the body is there, however long the answer takes
	}
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		closing()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Grace)
		defer cancel()
		if srv.Shutdown(late) != nil {
			_ = srv.Close()
		}
	})
	err := srv.Serve(l)
	if !stop() {
		<-over
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
