package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Timeouts and sizes that protect the harness. They concern sockets, not the provider,
// and use the real clock.
const (
	headerTime = 10 * time.Second // to send the headers
	bodyTime   = 30 * time.Second // to send the body
	idleTime   = 2 * time.Minute  // between two requests
	writeTime  = 30 * time.Second // for each write
	maxHeader  = 32 << 10         // bytes of headers
	// hardHeader is the size of headers that net/http refuses by itself.
	hardHeader = 64 << 10
)

// Serve answers requests on l until ctx is done. Then it accepts no further requests
// and waits up to Config.Grace for those in flight; connections that will never get an
// answer are closed at once. It returns nil, or an error if lines of the access log
// could not be written.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	l = &limitListener{Listener: l, limit: int64(s.cfg.MaxConnections), open: &s.connections, refused: s.metrics.harness.add}
	return errors.Join(s.serve(ctx, l, s, s.Close), s.accessLog.writeError())
}

// ServeAdmin serves the admin API on l until ctx is done. l should not be reachable
// from other machines. See Admin.
func (s *Server) ServeAdmin(ctx context.Context, l net.Listener, token string) error {
	l = &limitListener{Listener: l, limit: 64, open: new(atomic.Int64), refused: s.metrics.harness.add}
	return s.serve(ctx, l, s.Admin(token), func() {})
}

func (s *Server) serve(ctx context.Context, l net.Listener, h http.Handler, closing func()) error {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true) // some SDKs support no other protocol
	srv := &http.Server{
		Handler: h, MaxHeaderBytes: hardHeader, Protocols: protocols, ErrorLog: s.cfg.ErrorLog,
		ReadHeaderTimeout: headerTime, IdleTimeout: idleTime,
		ReadTimeout: headerTime + bodyTime, // it ends with the body, so answers may take longer
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
