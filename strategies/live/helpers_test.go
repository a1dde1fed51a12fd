package live

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// provider is a base made of a function. It counts the requests and the response
// bodies that are not closed.
type provider struct {
	respond    func(n int, r *http.Request) (*http.Response, error)
	requests   atomic.Int32
	openBodies atomic.Int32
	mu         sync.Mutex
	bodies     []string
}

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	text := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			p.requests.Add(1)
			return nil, err
		}
		text = string(b)
	}
	p.mu.Lock() // so that request n is bodies[n-1]
	n := int(p.requests.Add(1))
	p.bodies = append(p.bodies, text)
	p.mu.Unlock()
	resp, err := p.respond(n, r)
	if resp != nil {
		p.openBodies.Add(1)
		resp.Body = &countedBody{resp.Body, &p.openBodies, sync.Once{}}
	}
	return resp, err
}

type countedBody struct {
	io.ReadCloser
	open *atomic.Int32
	once sync.Once
}

func (c *countedBody) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.ReadCloser.Close()
}

// jsonResponse returns a response with a JSON body.
func jsonResponse(status int, body string, headers ...string) (*http.Response, error) {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}, nil
}

const (
	chatAnswer  = `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":7,"total_tokens":8}}`
	body14003   = `{"code":14003,"message":"too many requests","retry_after":3,"limit":20,"remaining":0}`
	chatRequest = `{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":100}`
)

func post(ctx context.Context, t *Transport, body string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://herd.test/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Authorization", "Bearer secret")
	resp, err := t.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// withTransport calls f in virtual time with a transport of this configuration.
func withTransport(t *testing.T, p *provider, cfg Config, f func(tr *Transport)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg.Base = p
		if cfg.Strategy.Name == "" {
			cfg.Strategy.Name = "mine"
		}
		tr, err := New(cfg)
		require.NoError(t, err)
		defer tr.Close()
		f(tr)
		time.Sleep(time.Second) // for attempts that are still in flight
		synctest.Wait()
		require.Zero(t, p.openBodies.Load(), "bodies left open")
		require.Len(t, tr.freeRows, int(tr.rows), "calls that never ended")
	})
}

var retryFour = layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 4}

func configOf(layers ...strategies.Layer) Config {
	return Config{Strategy: strategies.Definition{Layers: layers}}
}

// onlyReader is a body without GetBody.
type onlyReader struct{ io.Reader }

// streamResponse returns a stream with 100 ms before each frame.
func streamResponse(status int, end error, frames ...string) (*http.Response, error) {
	r, w := io.Pipe()
	go func() {
		for _, f := range frames {
			time.Sleep(100 * time.Millisecond)
			if _, err := io.WriteString(w, f); err != nil {
				return
			}
		}
		w.CloseWithError(end)
	}()
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: r, ContentLength: -1}, nil
}

const (
	tokenEvent      = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}` + "\n\n"
	finishEvent     = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	doneEvent       = "data: [DONE]\n\n"
	overloadedEvent = `data: {"error":{"message":"The server is overloaded, retry later.","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}}` + "\n\n"
)

// recording collects what a transport records.
type recording struct {
	mu       sync.Mutex
	calls    []Call
	attempts []Attempt
}

func (h *recording) Attempt(a Attempt) {
	h.mu.Lock()
	h.attempts = append(h.attempts, a)
	h.mu.Unlock()
}
func (h *recording) Call(c Call)                  { h.mu.Lock(); h.calls = append(h.calls, c); h.mu.Unlock() }
func (h *recording) Signal(strategies.SignalSpec) {}

type roundTripper func(*http.Request) (*http.Response, error)

// samePrompt is a layer that gives all calls the same prompt number.
type samePrompt struct {
	prompt uint32
	inner  strategies.Strategy
}

// Build implements strategies.Layer.
func (a samePrompt) Build(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return samePrompt{a.prompt, inner}, nil
}

// Next implements strategies.Strategy.
func (a samePrompt) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	c.Demand.Prompt, c.Demand.MaxTokens = a.prompt, 0
	return a.inner.Next(now, c, e)
}

func mustURL(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
