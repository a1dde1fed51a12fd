package serve

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// BenchmarkHandler measures one request to a provider that answers at once, without
// sockets: parse, decide, write.
func BenchmarkHandler(b *testing.B) {
	s := Must(Config{})
	body := strings.NewReader(`{"model":"demo","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`)
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", io.NopCloser(body))
	r.Header.Set("Authorization", "Bearer sk-secret")
	w := sink{}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = body.Seek(0, io.SeekStart)
		clear(w)
		s.ServeHTTP(w, r)
	}
}

// sink is a connection that discards everything.
type sink http.Header

func (s sink) Header() http.Header            { return http.Header(s) }
func (sink) WriteHeader(int)                  {}
func (sink) Write(p []byte) (int, error)      { return len(p), nil }
func (sink) SetWriteDeadline(time.Time) error { return nil }
