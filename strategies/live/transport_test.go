package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// provider is a base made of a function, which counts what it was asked and
// which of its bodies are open.
type provider struct {
	answer func(n int, r *http.Request) (*http.Response, error)
	asked  atomic.Int32
	open   atomic.Int32
	mu     sync.Mutex
	bodies []string
}

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	text := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			p.asked.Add(1)
			return nil, err
		}
		text = string(b)
	}
	p.mu.Lock() // its number and the place of its body are the same
	n := int(p.asked.Add(1))
	p.bodies = append(p.bodies, text)
	p.mu.Unlock()
	resp, err := p.answer(n, r)
	if resp != nil {
		p.open.Add(1)
		resp.Body = &counted{resp.Body, &p.open, sync.Once{}}
	}
	return resp, err
}

type counted struct {
	io.ReadCloser
	open *atomic.Int32
	once sync.Once
}

func (c *counted) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.ReadCloser.Close()
}

// says makes a response.
func says(status int, body string, headers ...string) (*http.Response, error) {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}, nil
}

const (
	good     = `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":7,"total_tokens":8}}`
	code14   = `{"code":14003,"message":"too many requests","retry_after":3,"limit":20,"remaining":0}`
	question = `{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":100}`
)

func ask(ctx context.Context, t *Transport, body string) (*http.Response, string, error) {
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

// inBubble runs f in virtual time with a transport of these layers.
func inBubble(t *testing.T, p *provider, cfg Config, f func(tr *Transport)) {
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
		time.Sleep(time.Second) // whoever is left notices
		synctest.Wait()
		require.Zero(t, p.open.Load(), "bodies left open")
		require.Len(t, tr.freeRow, int(tr.rows), "calls that never ended")
	})
}

var patient = strategies.Retry{Backoff: strategies.Fixed{Every: time.Second}, MaxAttempts: 4}

func stack(layers ...strategies.Layer) Config {
	return Config{Strategy: strategies.Definition{Layers: layers}}
}

// The nastiest refusal is read as what it is, and its hint obeyed; who reads the
// status takes it for an answer.
func TestA14003IsRefused(t *testing.T) {
	script := func(n int, _ *http.Request) (*http.Response, error) {
		if n == 1 {
			return says(200, code14)
		}
		return says(200, good)
	}
	p := &provider{answer: script}
	inBubble(t, p, stack(patient), func(tr *Transport) {
		start := time.Now()
		_, body, err := ask(context.Background(), tr, question)
		require.NoError(t, err)
		require.Equal(t, good, body)
		require.Equal(t, 3*time.Second, time.Since(start))
		require.Equal(t, []string{question, question}, p.bodies)
	})
	p = &provider{answer: script}
	cfg := stack(patient)
	cfg.Strategy.Reader = wire.ByStatus{}
	inBubble(t, p, cfg, func(tr *Transport) {
		_, body, err := ask(context.Background(), tr, question)
		require.NoError(t, err)
		require.Equal(t, code14, body)
	})
}

// A dialect of one's own is read as well as one that there is, if the transport
// knows of it; nobody else could tell its refusals from answers.
func TestADialectOfOnesOwn(t *testing.T) {
	own := dialect.CodeInBody{
		Name: "gw", Code: "errno", Message: "errmsg", Data: "result", RetryAfter: "wait_ms", Spelled: wire.BodyMillis,
		Replies: [wire.NumClasses]dialect.CodeReply{wire.Rate: {Code: 45009, Text: "slow down"}},
	}.Dialect()
	const no, yes = `{"errno":45009,"errmsg":"slow down","wait_ms":2500}`, `{"errno":0,"errmsg":"ok","result":{"content":"hi","finish_reason":"stop"}}`
	script := func(n int, _ *http.Request) (*http.Response, error) {
		if n == 1 {
			return says(200, no)
		}
		return says(200, yes)
	}
	for _, knows := range []bool{true, false} {
		cfg, want := stack(patient), no
		if knows {
			cfg.Own, want = &own, yes
		}
		inBubble(t, &provider{answer: script}, cfg, func(tr *Transport) {
			start := time.Now()
			_, body, err := ask(context.Background(), tr, question)
			require.NoError(t, err)
			require.Equal(t, want, body)
			if knows {
				require.Equal(t, 2500*time.Millisecond, time.Since(start))
			}
		})
	}
}

// The caller gets the provider's last word as it came, or an error that says why
// there is none.
func TestHowCallsEnd(t *testing.T) {
	t.Run("the last refusal", func(t *testing.T) {
		p := &provider{answer: func(n int, _ *http.Request) (*http.Response, error) {
			return says(429, fmt.Sprintf(`{"error":{"message":"no %d","type":"requests","code":"rate_limit_exceeded"}}`, n))
		}}
		inBubble(t, p, stack(patient), func(tr *Transport) {
			resp, body, err := ask(context.Background(), tr, question)
			require.NoError(t, err)
			require.Equal(t, 429, resp.StatusCode)
			require.Contains(t, body, "no 4")
		})
	})
	t.Run("a broken line", func(t *testing.T) {
		broken := errors.New("broken")
		p := &provider{answer: func(int, *http.Request) (*http.Response, error) { return nil, broken }}
		inBubble(t, p, stack(patient), func(tr *Transport) {
			_, _, err := ask(context.Background(), tr, question)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.ErrorIs(t, err, broken)
			require.Equal(t, &Error{Reason: strategies.TriesExhausted, Class: wire.Disconnected, Attempts: 4, Err: broken}, e)
			require.True(t, e.Temporary())
		})
	})
	t.Run("a breaker that is open", func(t *testing.T) {
		p := &provider{answer: func(int, *http.Request) (*http.Response, error) { return says(503, `{}`) }}
		breaker := strategies.Breaker{Failures: 1, OpenFor: time.Minute, FailFast: true, Scope: strategies.PerClient}
		inBubble(t, p, stack(breaker), func(tr *Transport) {
			resp, _, err := ask(context.Background(), tr, question)
			require.NoError(t, err)
			require.Equal(t, 503, resp.StatusCode)
			_, _, err = ask(context.Background(), tr, question)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, strategies.BreakerOpen, e.Reason)
			require.Zero(t, e.Attempts)
			require.EqualValues(t, 1, p.asked.Load())
		})
	})
	t.Run("a caller who leaves while it waits", func(t *testing.T) {
		p := &provider{answer: func(int, *http.Request) (*http.Response, error) { return says(503, `{}`) }}
		inBubble(t, p, stack(patient), func(tr *Transport) {
			ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
			defer cancel()
			_, _, err := ask(ctx, tr, question)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.EqualValues(t, 2, p.asked.Load())
		})
	})
	t.Run("a caller who leaves during an attempt", func(t *testing.T) {
		p := &provider{answer: func(_ int, r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		inBubble(t, p, stack(patient), func(tr *Transport) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_, _, err := ask(ctx, tr, question)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	})
}

// reading is a body that cannot be made again.
type reading struct{ io.Reader }

// A body is sent again if it can be, and only then.
func TestBodies(t *testing.T) {
	script := func(n int, _ *http.Request) (*http.Response, error) {
		if n == 1 {
			return says(503, `{}`)
		}
		return says(200, good)
	}
	for name, c := range map[string]struct {
		body io.Reader
		most int64
		sent []string
	}{
		"none":          {nil, 0, []string{"", ""}},
		"again":         {strings.NewReader(question), 0, []string{question, question}},
		"kept":          {reading{strings.NewReader(question)}, 0, []string{question, question}},
		"just kept":     {reading{strings.NewReader(question)}, int64(len(question)), []string{question, question}},
		"a byte more":   {reading{strings.NewReader(question)}, int64(len(question)) - 1, []string{question}},
		"much too long": {reading{strings.NewReader(question)}, 1, []string{question}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{answer: script}
			cfg := stack(patient)
			cfg.MaxBody = c.most
			inBubble(t, p, cfg, func(tr *Transport) {
				req, err := http.NewRequest(http.MethodPost, "http://herd.test/", c.body)
				require.NoError(t, err)
				resp, err := tr.RoundTrip(req)
				if len(c.sent) == 1 {
					require.ErrorIs(t, err, errBody)
				} else {
					require.NoError(t, err)
					require.Equal(t, 200, resp.StatusCode)
					resp.Body.Close()
				}
				require.Equal(t, c.sent, p.bodies)
			})
		})
	}
}

// pieces is a stream whose pieces come one by one.
func pieces(status int, end error, frames ...string) (*http.Response, error) {
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
	token   = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}` + "\n\n"
	last    = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done    = "data: [DONE]\n\n"
	overrun = `data: {"error":{"message":"The server is overloaded, retry later.","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}}` + "\n\n"
)

// heard notes what a transport records.
type heard struct {
	mu    sync.Mutex
	calls []Call
	tries []Attempt
}

func (h *heard) Attempt(a Attempt)            { h.mu.Lock(); h.tries = append(h.tries, a); h.mu.Unlock() }
func (h *heard) Call(c Call)                  { h.mu.Lock(); h.calls = append(h.calls, c); h.mu.Unlock() }
func (h *heard) Signal(strategies.SignalSpec) {}

// An error in a stream is retried as long as nothing of the answer has come;
// after that it is the caller's, and the strategy hears of it.
func TestStreams(t *testing.T) {
	for name, c := range map[string]struct {
		first    []string
		end      error
		attempts int
		body     string
		class    wire.Class
	}{
		"well":                   {[]string{token, token, last, done}, nil, 1, token + token + last + done, wire.OK},
		"before the first token": {[]string{overrun}, nil, 2, token + last + done, wire.OK},
		"after it":               {[]string{token, overrun}, nil, 1, token + overrun, wire.Overloaded},
		"a silent end":           {[]string{token, token}, nil, 1, token + token, wire.Disconnected},
		"an early silent end":    {nil, nil, 2, token + last + done, wire.OK},
		"an early break":         {nil, io.ErrUnexpectedEOF, 2, token + last + done, wire.OK},
		"a late break":           {[]string{token}, io.ErrUnexpectedEOF, 1, token, wire.Disconnected},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{answer: func(n int, _ *http.Request) (*http.Response, error) {
				if n == 1 {
					return pieces(200, c.end, c.first...)
				}
				return pieces(200, nil, token, last, done)
			}}
			var h heard
			cfg := stack(patient)
			cfg.Recorder = &h
			inBubble(t, p, cfg, func(tr *Transport) {
				_, body, err := ask(context.Background(), tr, question)
				if c.end != nil && c.attempts == 1 {
					require.ErrorIs(t, err, c.end)
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, c.body, body)
				require.EqualValues(t, c.attempts, p.asked.Load())
				require.Len(t, h.calls, 1)
				require.Equal(t, c.class, h.calls[0].Class)
				for _, a := range h.tries {
					require.Equal(t, "m", a.Model)
				}
			})
		})
	}
	t.Run("a reader who has had enough", func(t *testing.T) {
		p := &provider{answer: func(int, *http.Request) (*http.Response, error) { return pieces(200, nil, token, token, token, token) }}
		var h heard
		cfg := stack(patient)
		cfg.Recorder = &h
		inBubble(t, p, cfg, func(tr *Transport) {
			req, err := http.NewRequest(http.MethodPost, "http://herd.test/", strings.NewReader(question))
			require.NoError(t, err)
			resp, err := tr.RoundTrip(req)
			require.NoError(t, err)
			buf := make([]byte, len(token))
			_, err = io.ReadFull(resp.Body, buf)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, strategies.Withdrawn, h.calls[0].Reason)
		})
	})
}

// Waiters who leave give their place back, whatever they wait for: however many of
// them there were, the next is admitted within their patience and 1/rate, and as
// many have been admitted as without those who left. A token bucket, of which a
// flood leaves no more than the next token to wait for, keeps to that alone.
func TestCancelledWaitersLeaveNoDebt(t *testing.T) {
	const s, all, patience, gap = time.Second, strategies.PerFleet, time.Second, time.Second / 20
	retry := strategies.Retry{Backoff: strategies.Fixed{Every: s / 10}}
	fixed := strategies.LimitRange{Initial: 20, Min: 20, Max: 20}
	for name, c := range map[string]struct {
		layers   []strategies.Layer
		service  time.Duration
		admitted [2]int32 // least and most within the patience
		most     time.Duration
	}{
		"token bucket":    {[]strategies.Layer{strategies.TokenBucket{Rate: 20, Per: s, Burst: 5, Scope: all}}, 0, [2]int32{25, 25}, gap},
		"within a retry":  {[]strategies.Layer{retry, strategies.TokenBucket{Rate: 20, Per: s, Burst: 5, Scope: all}}, 0, [2]int32{25, 25}, gap},
		"two of them":     {[]strategies.Layer{strategies.Concurrency{Permits: 20, Scope: all}, strategies.TokenBucket{Rate: 20, Per: s, Burst: 5, Scope: all}}, 0, [2]int32{25, 25}, gap},
		"gcra":            {[]strategies.Layer{strategies.GCRA{Rate: 20, Per: s, Burst: 5, Scope: all}}, 0, [2]int32{25, 25}, gap},
		"min interval":    {[]strategies.Layer{strategies.MinInterval{Every: gap, Scope: all}}, 0, [2]int32{21, 21}, gap},
		"and its jitter":  {[]strategies.Layer{strategies.MinInterval{Every: gap / 2, Jitter: gap / 2, Scope: all}}, 0, [2]int32{21, 41}, gap},
		"worker queue":    {[]strategies.Layer{strategies.WorkerQueue{Rate: 20, Per: s, Workers: 5, Scope: all}}, 0, [2]int32{21, 21}, gap},
		"sliding log":     {[]strategies.Layer{strategies.SlidingLog{Limit: 20, Length: s, Scope: all}}, 0, [2]int32{40, 40}, patience + gap},
		"sliding counter": {[]strategies.Layer{strategies.SlidingCounter{Limit: 20, Length: s, Scope: all}}, 0, [2]int32{20, 40}, patience + gap},
		"concurrency":     {[]strategies.Layer{strategies.Concurrency{Permits: 20, Scope: all}}, 900 * time.Millisecond, [2]int32{20, 20}, 0},
		"bulkhead":        {[]strategies.Layer{strategies.Bulkhead{Permits: 20, Line: 1000, Scope: all}}, 900 * time.Millisecond, [2]int32{20, 20}, 0},
		"aimd":            {[]strategies.Layer{strategies.AIMD{LimitRange: fixed, Scope: all}}, 900 * time.Millisecond, [2]int32{20, 20}, 0},
		"everyone's":      {[]strategies.Layer{strategies.TokenBucket{Rate: 20, Per: s, Burst: 5, Scope: strategies.PerEveryone, Name: "all"}}, 0, [2]int32{25, 25}, gap},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{answer: func(_ int, r *http.Request) (*http.Response, error) {
				select {
				case <-time.After(c.service):
					return says(200, good)
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			}}
			inBubble(t, p, stack(c.layers...), func(tr *Transport) {
				ctx, cancel := context.WithTimeout(context.Background(), patience+time.Millisecond)
				defer cancel()
				var wg sync.WaitGroup
				var admitted atomic.Int32
				for range 2000 {
					wg.Go(func() {
						if _, _, err := ask(ctx, tr, question); err == nil {
							admitted.Add(1)
						}
					})
				}
				wg.Wait()
				require.GreaterOrEqual(t, admitted.Load(), c.admitted[0])
				require.LessOrEqual(t, admitted.Load(), c.admitted[1])
				start := time.Now()
				_, _, err := ask(context.Background(), tr, question)
				require.NoError(t, err)
				require.LessOrEqual(t, time.Since(start), c.most+c.service)
			})
		})
	}
}

// A permit is held by one call at a time, whatever becomes of it.
func TestPermitsComeBack(t *testing.T) {
	var inside, most atomic.Int32
	p := &provider{answer: func(n int, r *http.Request) (*http.Response, error) {
		most.Store(max(most.Load(), inside.Add(1)))
		defer inside.Add(-1)
		select {
		case <-time.After(time.Duration(n%7) * 100 * time.Millisecond):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		if n%3 == 0 {
			return says(503, `{}`)
		}
		return says(200, good)
	}}
	inBubble(t, p, stack(patient, strategies.Concurrency{Permits: 3, Scope: strategies.PerFleet}), func(tr *Transport) {
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%20)*300*time.Millisecond)
				defer cancel()
				_, _, _ = ask(ctx, tr, question)
			})
		}
		wg.Wait()
		require.EqualValues(t, 3, most.Load())
		_, _, err := ask(context.Background(), tr, question) // and all of them are free again
		require.NoError(t, err)
	})
}

// What everyone shares is shared by transports.
func TestEveryone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{answer: func(int, *http.Request) (*http.Response, error) { return says(200, good) }}
		everyone := NewEveryone()
		var both []*Transport
		for range 2 {
			cfg := stack(strategies.TokenBucket{Rate: 1, Per: time.Second, Burst: 1, Scope: strategies.PerEveryone, Name: "all"})
			cfg.Strategy.Name, cfg.Base, cfg.Everyone = "mine", p, everyone
			tr, err := New(cfg)
			require.NoError(t, err)
			defer tr.Close()
			both = append(both, tr)
		}
		start := time.Now()
		for i := range 10 {
			_, _, err := ask(context.Background(), both[i%2], question)
			require.NoError(t, err)
		}
		require.Equal(t, 9*time.Second, time.Since(start))
	})
}

// Whoever asks a second time because the first takes too long gets the first
// answer, and hangs up on the other.
func TestHedging(t *testing.T) {
	var left atomic.Int32
	p := &provider{answer: func(n int, r *http.Request) (*http.Response, error) {
		if n == 1 {
			<-r.Context().Done()
			left.Add(1)
			return nil, r.Context().Err()
		}
		time.Sleep(100 * time.Millisecond)
		return says(200, good)
	}}
	inBubble(t, p, stack(strategies.Hedge{After: time.Second, Scope: strategies.PerClient}), func(tr *Transport) {
		start := time.Now()
		_, body, err := ask(context.Background(), tr, question)
		require.NoError(t, err)
		require.Equal(t, good, body)
		require.Equal(t, 1100*time.Millisecond, time.Since(start))
		synctest.Wait()
		require.EqualValues(t, 1, left.Load())
	})
}

// Equal questions at one time are asked once; each caller gets the whole answer.
func TestSingleFlight(t *testing.T) {
	p := &provider{answer: func(int, *http.Request) (*http.Response, error) {
		time.Sleep(time.Second)
		return says(200, good)
	}}
	inBubble(t, p, stack(strategies.SingleFlight{Scope: strategies.PerFleet}), func(tr *Transport) {
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				_, body, err := ask(context.Background(), tr, question)
				require.NoError(t, err)
				require.Equal(t, good, body)
			})
		}
		wg.Go(func() {
			_, _, err := ask(context.Background(), tr, strings.Replace(question, "hi", "ho", 1))
			require.NoError(t, err)
		})
		wg.Wait()
		require.EqualValues(t, 2, p.asked.Load())
	})
}

// An answer is given again to who asks the same, as long as it is fresh.
func TestCache(t *testing.T) {
	p := &provider{answer: func(int, *http.Request) (*http.Response, error) { return says(200, good) }}
	inBubble(t, p, stack(strategies.Cache{TTL: time.Minute, Entries: 64, Scope: strategies.PerFleet}), func(tr *Transport) {
		for i := range 5 {
			_, body, err := ask(context.Background(), tr, question)
			require.NoError(t, err)
			require.Equal(t, good, body, i)
		}
		require.EqualValues(t, 1, p.asked.Load())
		time.Sleep(time.Minute)
		_, _, err := ask(context.Background(), tr, question)
		require.NoError(t, err)
		require.EqualValues(t, 2, p.asked.Load())
	})
}

// A request goes where the strategy sends it, with another model, key and region.
func TestRouting(t *testing.T) {
	there, err := url.Parse("https://eu.herd.test/base/")
	require.NoError(t, err)
	var seen []string
	p := &provider{}
	p.answer = func(_ int, r *http.Request) (*http.Response, error) {
		seen = append(seen, r.URL.String()+" "+r.Header.Get("Authorization")+" "+p.bodies[len(p.bodies)-1])
		return says(503, `{}`)
	}
	target := wire.Target{}
	script := strategies.Script(func(s *strategies.Session) error {
		s.Send()
		s.Call().Target = target
		s.Send()
		return strategies.ErrGaveUp
	})
	cfg := stack(script)
	cfg.Models, cfg.Keys, cfg.Regions = []string{"m", `li"ght`}, []string{"secret", "other"}, []*url.URL{nil, there}
	target = wire.Target{Model: 1, Region: 1, Key: 1}
	inBubble(t, p, cfg, func(tr *Transport) {
		_, _, err := ask(context.Background(), tr, question)
		require.NoError(t, err)
		require.Equal(t, []string{
			"http://herd.test/v1/chat/completions Bearer secret " + question,
			"https://eu.herd.test/base/v1/chat/completions Bearer other " + strings.Replace(question, `"m"`, `"li\"ght"`, 1),
		}, seen)
	})
	target = wire.Target{Model: 2}
	inBubble(t, &provider{answer: p.answer}, cfg, func(tr *Transport) {
		_, _, err := ask(context.Background(), tr, question)
		require.ErrorContains(t, err, "asks for model 2, but the transport knows 2")
	})
}

func TestSplice(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"a":1, "k" : [1,{"k":2}] ,"b":"k"}`, `{"a":1, "k" : 9 ,"b":"k"}`},
		{`{"a":{"k":1}}`, ""}, {`{}`, ""}, {`[1]`, ""}, {`{"a":`, ""}, {``, ""},
	} {
		got, ok := splice([]byte(c.body), []byte("9"), "k")
		require.Equal(t, c.want != "", ok, c.body)
		if c.want == "" {
			c.want = c.body
		}
		require.Equal(t, c.want, string(got), c.body)
	}
	got, ok := splice([]byte(`{"k":1,"a":{"b":2, "k":3}}`), []byte("9"), "a", "k")
	require.True(t, ok)
	require.Equal(t, `{"k":1,"a":{"b":2, "k":9}}`, string(got))
	_, ok = splice([]byte(`{"a":[{"k":3}],"k":1}`), []byte("9"), "a", "k")
	require.False(t, ok)
}

// Where a strategy caps the output, the request says so wherever its dialect does,
// and stays as it is but for that; what states no cap is sent as it came.
func TestShrink(t *testing.T) {
	halves := strategies.Shrink{Output: 0.5, Times: 2}
	for path, c := range map[string]struct{ body, key string }{
		"v1/chat/completions":                             {`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":100}`, `"max_tokens":`},
		"v1/chat/completions?newer":                       {`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_completion_tokens":100}`, `"max_completion_tokens":`},
		"v1/responses":                                    {`{"model":"m","input":"hi","max_output_tokens":100}`, `"max_output_tokens":`},
		"v1/messages":                                     {`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":100}`, `"max_tokens":`},
		"v1beta/models/m:generateContent":                 {`{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":100}}`, `"maxOutputTokens":`},
		"model/m/converse":                                {`{"messages":[{"role":"user","content":[{"text":"hi"}]}],"inferenceConfig":{"maxTokens":100}}`, `"maxTokens":`},
		"v1/chat/completions?without":                     {`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, `none`},
		"api/v1/services/aigc/text-generation/generation": {`{"model":"m","input":{"prompt":"hi"},"parameters":{"max_tokens":100}}`, `"max_tokens":`},
	} {
		t.Run(path, func(t *testing.T) {
			p := &provider{answer: func(int, *http.Request) (*http.Response, error) { return says(503, `{}`) }}
			inBubble(t, p, stack(halves), func(tr *Transport) {
				req, err := http.NewRequest(http.MethodPost, "http://herd.test/"+path, strings.NewReader(c.body))
				require.NoError(t, err)
				resp, err := tr.RoundTrip(req)
				require.NoError(t, err)
				resp.Body.Close()
				var want []string
				for _, most := range []string{"100", "50", "25"} {
					want = append(want, strings.Replace(c.body, c.key+"100", c.key+most, 1))
				}
				require.Equal(t, want, p.bodies)
			})
		})
	}
}

// Metrics and logs say what happened, and nothing that is secret.
func TestRecorders(t *testing.T) {
	p := &provider{answer: func(n int, _ *http.Request) (*http.Response, error) {
		if n == 1 {
			return says(429, `{"error":{"message":"no","type":"requests","code":"rate_limit_exceeded"}}`, "Retry-After", "2", "x-request-id", "req-1")
		}
		return says(200, good, "x-request-id", "req-2")
	}}
	var out bytes.Buffer
	m := NewMetrics()
	cfg := stack(patient)
	cfg.Recorder = Recorders(m, Log(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	inBubble(t, p, cfg, func(tr *Transport) {
		_, _, err := ask(context.Background(), tr, question)
		require.NoError(t, err)
	})
	require.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(`
# HELP herdlab_live_attempts_total Attempts that ended, by what the client makes of them.
# TYPE herdlab_live_attempts_total counter
herdlab_live_attempts_total{class="ok"} 1
herdlab_live_attempts_total{class="rate"} 1
# HELP herdlab_live_calls_total Calls that are over, by the reason why.
# TYPE herdlab_live_calls_total counter
herdlab_live_calls_total{class="ok",reason="succeeded"} 1
# HELP herdlab_live_output_tokens_total Output tokens that attempts brought before their stream was handed over.
# TYPE herdlab_live_output_tokens_total counter
herdlab_live_output_tokens_total 7
# HELP herdlab_live_request_bytes_total Bytes of the bodies of attempts, as far as their length is known.
# TYPE herdlab_live_request_bytes_total counter
herdlab_live_request_bytes_total `+fmt.Sprint(2*len(question))+`
# HELP herdlab_live_switched_attempts_total Attempts at another model, region or key than the first.
# TYPE herdlab_live_switched_attempts_total counter
herdlab_live_switched_attempts_total 0
`), "herdlab_live_attempts_total", "herdlab_live_calls_total", "herdlab_live_output_tokens_total", "herdlab_live_request_bytes_total", "herdlab_live_switched_attempts_total"))
	for _, want := range []string{"class=rate status=429", "retry_after=2s", "request_id=req-1", "request_id=req-2", "output_tokens=7", "attempts=2", "took=2s"} {
		require.Contains(t, out.String(), want)
	}
	for _, secret := range []string{"secret", "hi", "Bearer"} {
		require.NotContains(t, out.String(), secret)
	}
}

// A failure is told with what it takes to understand it: the model by its name,
// wherever a strategy has sent the request, sizes, waits, hints; and no key, not
// even one that stands in the URL of an error.
func TestRecordsOfFailures(t *testing.T) {
	gemini := "http://herd.test/v1beta/models/flash:generateContent?key=secret"
	ladder := strategies.Ladder{Rungs: []strategies.Rung{{Model: 0}, {Model: 1}}, On: strategies.Rules{Classes: strategies.Transient}, Backoff: strategies.Fixed{Every: time.Second}}
	hedge := strategies.Hedge{After: time.Second, Scope: strategies.PerClient}
	for name, c := range map[string]struct {
		layers []strategies.Layer
		url    string
		models []string // of all attempts
		waits  []time.Duration
	}{
		"alone":       {[]strategies.Layer{patient}, "http://herd.test/v1/chat/completions", []string{"m", "m", "m", "m"}, []time.Duration{0, 1e9, 1e9, 1e9}},
		"ladder":      {[]strategies.Layer{ladder}, "http://herd.test/v1/chat/completions", []string{"m", "light"}, []time.Duration{0, 1e9}},
		"hedged":      {[]strategies.Layer{hedge}, "http://herd.test/v1/chat/completions", []string{"m"}, []time.Duration{0}},
		"in the path": {nil, gemini, []string{"flash"}, []time.Duration{0}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{answer: func(_ int, r *http.Request) (*http.Response, error) {
				return nil, &url.Error{Op: "Post", URL: r.URL.String(), Err: &url.Error{Op: "Post", URL: r.URL.String(), Err: io.ErrUnexpectedEOF}}
			}}
			var h heard
			var out bytes.Buffer
			cfg := stack(c.layers...)
			cfg.Recorder = Recorders(&h, NewMetrics(), Log(slog.New(slog.NewTextHandler(&out, nil))))
			if name == "ladder" {
				cfg.Models = []string{"m", "light"}
			}
			inBubble(t, p, cfg, func(tr *Transport) {
				req, err := http.NewRequest(http.MethodPost, c.url, strings.NewReader(question))
				require.NoError(t, err)
				req.Header.Set("Authorization", "Bearer secret")
				_, err = tr.RoundTrip(req)
				require.Error(t, err)
			})
			require.Len(t, h.tries, len(c.models))
			for i, a := range h.tries {
				require.Equal(t, c.models[i], a.Model)
				require.Equal(t, c.waits[i], a.Waited)
				require.Equal(t, a.Target.Model > 0, a.Switched)
				require.EqualValues(t, i+1, a.Number)
				require.Equal(t, io.ErrUnexpectedEOF, a.Err)
				require.NotZero(t, a.Sent)
				require.Contains(t, out.String(), fmt.Sprintf("attempt=%d class=disconnected status=0 waited=%v", a.Number, a.Waited))
				require.Contains(t, out.String(), "model="+a.Model)
			}
			require.NotContains(t, out.String(), "secret")
		})
	}
}

func TestBadConfigs(t *testing.T) {
	merging := strategies.Merge{Size: 2, Window: time.Second, Scope: strategies.PerFleet}
	for want, cfg := range map[string]Config{
		`live: there is no dialect "nobody"`:          {Dialect: "nobody"},
		"live: the provider speaks openai or gw":      {Dialect: "openai", Own: &dialect.Dialect{Name: "gw"}},
		"live: MaxBody, Peek and MaxMemory must not":  {Peek: -1},
		"live: strategies: a definition needs a name": {},
		"only you know what can be left out; set":     {Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{strategies.Shrink{Context: 0.5, Output: 0.5}}}},
		"set Config.Split and Config.Combine":         {Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{patient, strategies.Shrink{Pieces: 4}}}},
		"set Config.Join and Config.Part":             {Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{merging, patient}}},
		"a stack does one of the two, once":           hooks(Config{Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{merging, strategies.Shrink{Pieces: 4}}}}),
	} {
		_, err := New(cfg)
		require.ErrorContains(t, err, want)
	}
	require.Panics(t, func() { Must(Config{}) })
}

// BenchmarkRoundTrip is what a call costs that succeeds at once: bare, and with
// retry, breaker and token bucket around it.
func BenchmarkRoundTrip(b *testing.B) {
	header := http.Header{"Content-Type": {"application/json"}}
	base := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(good)), ContentLength: int64(len(good)), Request: r}, nil
	})
	tr := Must(Config{Base: base, Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{
		strategies.Retry{Backoff: strategies.FullJitter{Base: time.Second, Cap: time.Minute}},
		strategies.Breaker{Failures: 5, OpenFor: time.Second, MinWait: time.Second, Scope: strategies.PerFleet},
		strategies.TokenBucket{Rate: 1e9, Per: time.Second, Burst: 1e9, Scope: strategies.PerFleet},
	}}})
	for name, rt := range map[string]http.RoundTripper{"bare": base, "live": tr} {
		b.Run(name, func(b *testing.B) {
			req, err := http.NewRequest(http.MethodPost, "http://herd.test/", nil)
			require.NoError(b, err)
			buf := make([]byte, 4096)
			b.ReportAllocs()
			for b.Loop() {
				resp, err := rt.RoundTrip(req)
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = resp.Body.Read(buf)
				}
				resp.Body.Close()
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
