package serve

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/sim/draw"
)

const (
	spacing = 500 * time.Microsecond // 2,000 requests per second
	turn    = 1000                   // consecutive requests to one handler; the first ones are a warm-up
)

// BenchmarkOverhead offers 2,000 requests per second over loopback sockets, in an open
// loop, and reports the duration of the handler minus the latency of the provider
// ("over"). Every other half second the requests go to a bare handler in the same
// server. It reads the request, waits for the same latency on a timer and writes an
// answer of the same length, so its overhead ("bare") is that of net/http, the timer and
// the machine. Run it with -benchtime 20000x on an idle machine.
func BenchmarkOverhead(b *testing.B) {
	for _, intended := range []time.Duration{0, 20 * time.Millisecond} {
		b.Run(intended.String(), func(b *testing.B) {
			s := Must(Config{Provider: mockprovider.Config{Capacity: mockprovider.Capacity{
				Service: mockprovider.Service{First: draw.Const(intended)},
			}}})
			ours, bare := &timed{Handler: s}, &timed{Handler: bare(intended)}
			mux := http.NewServeMux()
			mux.Handle("/v1/", ours)
			mux.Handle("/bare/v1/", bare)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(b, err)
			ctx, stop := context.WithCancel(context.Background())
			over := make(chan error, 1)
			go func() { over <- s.serve(ctx, l, mux, s.Close) }()
			require.NoError(b, offer("http://"+l.Addr().String(), b.N))
			stop()
			require.NoError(b, <-over)
			b.ReportMetric(0, "ns/op")
			ours.report(b, intended, "over")
			bare.report(b, intended, "bare")
		})
	}
}

// timed measures the duration of a handler.
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

// report reports quantiles of the overhead in microseconds.
func (h *timed) report(b *testing.B, intended time.Duration, unit string) {
	took := h.took[turn:]
	slices.Sort(took)
	for _, q := range []float64{0.5, 0.99} {
		d := took[int(q*float64(len(took)-1))] - intended
		b.ReportMetric(float64(d)/1e3, fmt.Sprintf("µs-%s-p%g", unit, q*100))
	}
}

// bare returns a handler that only waits and answers.
func bare(intended time.Duration) http.HandlerFunc {
	const answer = `{"id":"chatcmpl-req_1e3a5a0e6f0a8a51","object":"chat.completion","created":1796040000,"model":"demo",` +
		`"choices":[{"index":0,"message":{"role":"assistant","content":"The herd comes to the "},"finish_reason":"length"}],` +
		`"usage":{"prompt_tokens":8,"completion_tokens":5,"total_tokens":13}}`
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if intended > 0 {
			timer := time.NewTimer(intended)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-r.Context().Done():
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}
}

// offer sends n measured requests to each handler of BenchmarkOverhead, by turns.
func offer(url string, n int) (err error) {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	defer c.CloseIdleConnections()
	var mu sync.Mutex
	send := func(path string) {
		failed := post(c, url+path)
		mu.Lock()
		err = cmp.Or(err, failed)
		mu.Unlock()
	}
	paths := [...]string{"/v1/chat/completions", "/bare/v1/chat/completions"}
	var all sync.WaitGroup
	at := time.Now()
	for left := n + turn; left > 0; left -= turn {
		for _, path := range paths {
			for range min(turn, left) {
				time.Sleep(time.Until(at))
				all.Go(func() { send(path) })
				at = at.Add(spacing)
			}
		}
	}
	all.Wait()
	return err
}

// post sends a request and reads the answer.
func post(c *http.Client, url string) error {
	body := strings.NewReader(`{"model":"demo","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`)
	r, err := http.NewRequest(http.MethodPost, url, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer sk-secret")
	resp, err := c.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
