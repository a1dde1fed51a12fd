package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"herdlab/mockprovider"
	"herdlab/sim/draw"
)

// BenchmarkHandler is one request to a provider that answers at once, without
// sockets: parse, decide, write.
func BenchmarkHandler(b *testing.B) {
	s := Must(Config{})
	body := `{"model":"demo","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer sk-secret")
		s.ServeHTTP(httptest.NewRecorder(), r)
	}
}

// timed measures how long a handler takes.
type timed struct {
	http.Handler
	mu   sync.Mutex
	took []time.Duration
}

func (h *timed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	h.Handler.ServeHTTP(w, r)
	d := time.Since(start)
	h.mu.Lock()
	h.took = append(h.took, d)
	h.mu.Unlock()
}

// report reports quantiles beyond what was intended, in microseconds.
func report(b *testing.B, took []time.Duration, intended time.Duration, unit string) {
	slices.Sort(took)
	for _, q := range []float64{0.5, 0.99, 0.999} {
		d := took[int(q*float64(len(took)-1))] - intended
		b.ReportMetric(float64(d)/1e3, fmt.Sprintf("µs-%s-p%g", unit, q*100))
	}
}

// BenchmarkOverhead offers 2,000 requests per second over loopback sockets, in
// an open loop, and reports what the handler takes beside the latency that the
// provider intends: parsing, deciding and writing for answers at once, and with
// the lateness of the timer for those after 20 ms. Run it with
// -benchtime 20000x.
func BenchmarkOverhead(b *testing.B) {
	for _, intended := range []time.Duration{0, 20 * time.Millisecond} {
		b.Run(intended.String(), func(b *testing.B) {
			s := Must(Config{Provider: mockprovider.Config{Capacity: mockprovider.Capacity{Service: mockprovider.Service{First: draw.Const(intended)}}}})
			h := &timed{Handler: s}
			server := httptest.NewServer(h)
			defer server.Close()
			c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
			defer c.CloseIdleConnections()
			send := func() {
				resp, err := c.Do(chat(context.Background(), b, server.URL, false))
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			for range 200 { // connections and caches are there before it begins
				send()
			}
			h.took = nil
			var all sync.WaitGroup
			start := time.Now()
			for i := 0; b.Loop(); i++ {
				time.Sleep(time.Until(start.Add(time.Duration(i) * 500 * time.Microsecond)))
				all.Go(send)
			}
			all.Wait()
			report(b, h.took, intended, "over")
		})
	}
}
