package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// A 14003 with status 200 is a refusal and its hint is respected, except by a
// reader that looks at the status only.
func TestCode14003IsRefusal(t *testing.T) {
	script := func(n int, _ *http.Request) (*http.Response, error) {
		if n == 1 {
			return jsonResponse(200, body14003)
		}
		return jsonResponse(200, chatAnswer)
	}
	p := &provider{respond: script}
	withTransport(t, p, configOf(retryFour), func(tr *Transport) {
		start := time.Now()
		_, body, err := post(context.Background(), tr, chatRequest)
		require.NoError(t, err)
		require.Equal(t, chatAnswer, body)
		require.Equal(t, 3*time.Second, time.Since(start))
		require.Equal(t, []string{chatRequest, chatRequest}, p.bodies)
	})
	p = &provider{respond: script}
	cfg := configOf(retryFour)
	cfg.Strategy.Reader = wire.ByStatus{}
	withTransport(t, p, cfg, func(tr *Transport) {
		_, body, err := post(context.Background(), tr, chatRequest)
		require.NoError(t, err)
		require.Equal(t, body14003, body)
	})
}

// A custom dialect is parsed if the Config contains it. Otherwise its refusals
// cannot be distinguished from answers.
func TestCustomDialect(t *testing.T) {
	own := dialect.CodeInBody{
		Name: "gw", Code: "errno", Message: "errmsg", Data: "result", RetryAfter: "wait_ms", Spelled: wire.BodyMillis,
		Replies: [wire.NumClasses]dialect.CodeReply{wire.Rate: {Code: 45009, Text: "slow down"}},
	}.Dialect()
	const no, yes = `{"errno":45009,"errmsg":"slow down","wait_ms":2500}`, `{"errno":0,"errmsg":"ok","result":{"content":"hi","finish_reason":"stop"}}`
	script := func(n int, _ *http.Request) (*http.Response, error) {
		if n == 1 {
			return jsonResponse(200, no)
		}
		return jsonResponse(200, yes)
	}
	for _, knows := range []bool{true, false} {
		cfg, want := configOf(retryFour), no
		if knows {
			cfg.CustomDialect, want = &own, yes
		}
		withTransport(t, &provider{respond: script}, cfg, func(tr *Transport) {
			start := time.Now()
			_, body, err := post(context.Background(), tr, chatRequest)
			require.NoError(t, err)
			require.Equal(t, want, body)
			if knows {
				require.Equal(t, 2500*time.Millisecond, time.Since(start))
			}
		})
	}
}

// The caller gets the last reply unchanged, or an error with the reason why there
// is none.
func TestResults(t *testing.T) {
	t.Run("the last refusal", func(t *testing.T) {
		p := &provider{respond: func(n int, _ *http.Request) (*http.Response, error) {
			return jsonResponse(429, fmt.Sprintf(`{"error":{"message":"no %d","type":"requests","code":"rate_limit_exceeded"}}`, n))
		}}
		withTransport(t, p, configOf(retryFour), func(tr *Transport) {
			resp, body, err := post(context.Background(), tr, chatRequest)
			require.NoError(t, err)
			require.Equal(t, 429, resp.StatusCode)
			require.Contains(t, body, "no 4")
		})
	})
	t.Run("a lost connection", func(t *testing.T) {
		broken := errors.New("broken")
		p := &provider{respond: func(int, *http.Request) (*http.Response, error) { return nil, broken }}
		withTransport(t, p, configOf(retryFour), func(tr *Transport) {
			_, _, err := post(context.Background(), tr, chatRequest)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.ErrorIs(t, err, broken)
			require.Equal(t, &Error{Reason: strategies.TriesExhausted, Class: wire.ConnectionLost, Attempts: 4, Err: broken}, e)
			require.True(t, e.Temporary())
		})
	})
	t.Run("an open breaker", func(t *testing.T) {
		p := &provider{respond: func(int, *http.Request) (*http.Response, error) { return jsonResponse(503, `{}`) }}
		breaker := layers.Breaker{Failures: 1, OpenFor: time.Minute, FailFast: true, Scope: strategies.PerClient}
		withTransport(t, p, configOf(breaker), func(tr *Transport) {
			resp, _, err := post(context.Background(), tr, chatRequest)
			require.NoError(t, err)
			require.Equal(t, 503, resp.StatusCode)
			_, _, err = post(context.Background(), tr, chatRequest)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, strategies.BreakerOpen, e.Reason)
			require.Zero(t, e.Attempts)
			require.EqualValues(t, 1, p.requests.Load())
		})
	})
	t.Run("cancelled during a wait", func(t *testing.T) {
		p := &provider{respond: func(int, *http.Request) (*http.Response, error) { return jsonResponse(503, `{}`) }}
		withTransport(t, p, configOf(retryFour), func(tr *Transport) {
			ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
			defer cancel()
			_, _, err := post(ctx, tr, chatRequest)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.EqualValues(t, 2, p.requests.Load())
		})
	})
	t.Run("cancelled during an attempt", func(t *testing.T) {
		p := &provider{respond: func(_ int, r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		withTransport(t, p, configOf(retryFour), func(tr *Transport) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_, _, err := post(ctx, tr, chatRequest)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	})
}

// A body is sent again only if this is possible.
func TestBodies(t *testing.T) {
	script := func(n int, _ *http.Request) (*http.Response, error) {
		if n == 1 {
			return jsonResponse(503, `{}`)
		}
		return jsonResponse(200, chatAnswer)
	}
	for name, c := range map[string]struct {
		body io.Reader
		most int64
		sent []string
	}{
		"none":          {nil, 0, []string{"", ""}},
		"again":         {strings.NewReader(chatRequest), 0, []string{chatRequest, chatRequest}},
		"kept":          {onlyReader{strings.NewReader(chatRequest)}, 0, []string{chatRequest, chatRequest}},
		"just kept":     {onlyReader{strings.NewReader(chatRequest)}, int64(len(chatRequest)), []string{chatRequest, chatRequest}},
		"a byte more":   {onlyReader{strings.NewReader(chatRequest)}, int64(len(chatRequest)) - 1, []string{chatRequest}},
		"much too long": {onlyReader{strings.NewReader(chatRequest)}, 1, []string{chatRequest}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{respond: script}
			cfg := configOf(retryFour)
			cfg.MaxBody = c.most
			withTransport(t, p, cfg, func(tr *Transport) {
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

// If the first attempt is slow, the call gets the answer of the hedge, and the
// first attempt is cancelled.
func TestHedging(t *testing.T) {
	var left atomic.Int32
	p := &provider{respond: func(n int, r *http.Request) (*http.Response, error) {
		if n == 1 {
			<-r.Context().Done()
			left.Add(1)
			return nil, r.Context().Err()
		}
		time.Sleep(100 * time.Millisecond)
		return jsonResponse(200, chatAnswer)
	}}
	withTransport(t, p, configOf(layers.Hedge{After: time.Second, Scope: strategies.PerClient}), func(tr *Transport) {
		start := time.Now()
		_, body, err := post(context.Background(), tr, chatRequest)
		require.NoError(t, err)
		require.Equal(t, chatAnswer, body)
		require.Equal(t, 1100*time.Millisecond, time.Since(start))
		synctest.Wait()
		require.EqualValues(t, 1, left.Load())
	})
}

func TestBadConfigs(t *testing.T) {
	merging := layers.Merge{Size: 2, Window: time.Second, Scope: strategies.PerFleet}
	for want, cfg := range map[string]Config{
		`live: unknown dialect "nobody"`:                             {Dialect: "nobody"},
		"live: both Dialect (openai) and CustomDialect (gw) are set": {Dialect: "openai", CustomDialect: &dialect.Dialect{Name: "gw"}},
		"live: MaxBody, Peek and MaxCache must not":                  {Peek: -1},
		"live: strategies: a definition needs a name":                {},
		"which needs Config.Shrink":                                  {Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{layers.Shrink{Context: 0.5, Output: 0.5}}}},
		"which needs Config.SplitRequest and Config.JoinReplies":     {Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{retryFour, layers.Shrink{Pieces: 4}}}},
		"which needs Config.JoinRequests and Config.SplitReply":      {Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{merging, retryFour}}},
		"a stack can do one of the two, once":                        withFunctions(Config{Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{merging, layers.Shrink{Pieces: 4}}}}),
	} {
		_, err := New(cfg)
		require.ErrorContains(t, err, want)
	}
	require.Panics(t, func() { Must(Config{}) })
}

// BenchmarkRoundTrip measures a call that succeeds at once: without live, and with
// a retry, a breaker and a token bucket.
func BenchmarkRoundTrip(b *testing.B) {
	header := http.Header{"Content-Type": {"application/json"}}
	base := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(chatAnswer)), ContentLength: int64(len(chatAnswer)), Request: r}, nil
	})
	tr := Must(Config{Base: base, Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{
		layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: time.Minute}},
		layers.Breaker{Failures: 5, OpenFor: time.Second, MinWait: time.Second, Scope: strategies.PerFleet},
		layers.TokenBucket{Rate: 1e9, Per: time.Second, Burst: 1e9, Scope: strategies.PerFleet},
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
