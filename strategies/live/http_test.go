package live_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/serve"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/live"
)

// fastRetry returns a strategy with waits of 10 ms around layers.
func fastRetry(more ...strategies.Layer) strategies.Definition {
	return strategies.Definition{Name: "quick", Layers: append([]strategies.Layer{
		layers.Retry{Backoff: backoffs.Fixed{Every: 10 * time.Millisecond}, MaxAttempts: 5, Hints: layers.Hints{Use: layers.HintIgnored}},
	}, more...)}
}

func post(t *testing.T, client *http.Client, to, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, to, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer sk-herd")
	resp, err := client.Do(req)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp, string(text)
}

// With the mock provider and real connections: calls wait out an outage of 14003,
// and streams arrive unchanged.
func TestOverSockets(t *testing.T) {
	s := serve.NewTestServer(t, serve.Config{})
	_, err := s.Inject(faults.Outage(0, 60*time.Millisecond, mockprovider.Refusal{Status: 200, Body: wire.CodeBody, Code: wire.Code14003}))
	require.NoError(t, err)
	def := fastRetry(layers.Concurrency{Permits: 2, Scope: strategies.PerFleet})
	def.Layers[0] = layers.Retry{Backoff: backoffs.Fixed{Every: 10 * time.Millisecond}, Hints: layers.Hints{Use: layers.HintIgnored}}
	tr := live.Must(live.Config{Strategy: def, Base: &http.Transport{}})
	defer tr.CloseIdleConnections()
	defer tr.Close()
	client := &http.Client{Transport: tr}
	const calls = 80
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			to := s.URL + []string{"/codybuddy/v1/chat", "/v1/chat/completions"}[i%2]
			const ask = `{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":5`
			for range calls / 8 {
				resp, text := post(t, client, to, ask+`}`)
				require.Equal(t, 200, resp.StatusCode)
				require.Contains(t, text, `herd`)
				resp, text = post(t, client, to, ask+`,"stream":true}`)
				require.Equal(t, 200, resp.StatusCode)
				require.True(t, strings.HasPrefix(text, "data: {"), text)
				require.Contains(t, text, `herd`)
			}
		})
	}
	wg.Wait()
	count := s.State().Counters
	require.EqualValues(t, calls, count.Replies.Of("ok"))
	require.Greater(t, count.Arrivals, uint64(calls)) // some during the outage
}

// Refusals leave the connection usable: the next attempt uses the same one.
func TestKeepAlive(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		var dialled, asked atomic.Int32
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			if asked.Add(1)%5 != 0 {
				w.WriteHeader(503)
				fmt.Fprintf(w, `{"error":{"message":%q}}`, strings.Repeat("busy ", 1000))
				return
			}
			fmt.Fprint(w, `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`)
		}))
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				dialled.Add(1)
			}
		}
		server.EnableHTTP2 = http2
		server.StartTLS()
		base := server.Client().Transport.(*http.Transport).Clone()
		tr := live.Must(live.Config{Strategy: fastRetry(), Base: base})
		for range 3 {
			resp, _ := post(t, &http.Client{Transport: tr, Timeout: 5 * time.Second}, server.URL, `{}`)
			require.Equal(t, 200, resp.StatusCode)
		}
		require.EqualValues(t, 1, dialled.Load())
		require.EqualValues(t, 15, asked.Load())
		tr.CloseIdleConnections()
		server.Close()
		tr.Close()
	}
}

// The timeout of http.Client ends a call at any point, and is a timeout error.
func TestClientTimeout(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }))
	defer server.Close()
	def := fastRetry()
	def.Layers[0] = layers.Retry{Backoff: backoffs.Fixed{Every: time.Minute}}
	tr := live.Must(live.Config{Strategy: def, Base: &http.Transport{}})
	defer tr.CloseIdleConnections()
	_, err := (&http.Client{Transport: tr, Timeout: 50 * time.Millisecond}).Get(server.URL)
	var e *url.Error
	require.ErrorAs(t, err, &e)
	require.True(t, e.Timeout())
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// A reverse proxy with a transport forwards trailers, early hints and upgraded
// connections.
func TestBehindAProxy(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			defer conn.Close()
			fmt.Fprint(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			rw.Flush()
			line, _ := rw.ReadString('\n')
			fmt.Fprint(rw, line)
			rw.Flush()
			return
		}
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("Link", "</a>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		fmt.Fprint(w, `{"data":[]}`)
		w.Header().Set("X-Sum", "42")
	}))
	defer origin.Close()
	tr := live.Must(live.Config{Strategy: fastRetry(), Base: &http.Transport{}})
	defer tr.CloseIdleConnections()
	to, err := url.Parse(origin.URL)
	require.NoError(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Transport: tr, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }})
	defer proxy.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	resp, text := post(t, client, proxy.URL, `{}`)
	require.Equal(t, `{"data":[]}`, text)
	require.Equal(t, "42", resp.Trailer.Get("X-Sum"))

	req, err := http.NewRequest(http.MethodGet, proxy.URL, nil)
	require.NoError(t, err)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err = client.Do(req)
	require.NoError(t, err)
	require.Equal(t, 101, resp.StatusCode)
	both := resp.Body.(io.ReadWriteCloser)
	_, err = io.WriteString(both, "hello\n")
	require.NoError(t, err)
	echo := make([]byte, 6)
	_, err = io.ReadFull(both, echo)
	require.NoError(t, err)
	require.Equal(t, "hello\n", string(echo))
	require.NoError(t, both.Close())
}

// An error of reading the body, or of GetBody, ends the call, and so does the
// context while the body blocks.
func TestBadBodies(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(503)
	}))
	defer server.Close()
	tr := live.Must(live.Config{Strategy: fastRetry(), Base: &http.Transport{}})
	defer tr.CloseIdleConnections()
	req, err := http.NewRequest(http.MethodPost, server.URL, iotest.ErrReader(io.ErrClosedPipe))
	require.NoError(t, err)
	_, err = tr.RoundTrip(req)
	require.ErrorIs(t, err, io.ErrClosedPipe)

	req, err = http.NewRequest(http.MethodPost, server.URL, strings.NewReader("{}"))
	require.NoError(t, err)
	req.GetBody = func() (io.ReadCloser, error) { return nil, io.ErrNoProgress }
	_, err = tr.RoundTrip(req)
	require.ErrorIs(t, err, io.ErrNoProgress)
	var e *live.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, wire.BadRequest, e.Class)
	require.EqualValues(t, 1, e.Attempts)

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	r, w := io.Pipe()
	defer w.Close()
	req, err = http.NewRequestWithContext(ctx, http.MethodPost, server.URL, r)
	require.NoError(t, err)
	_, err = tr.RoundTrip(req)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
