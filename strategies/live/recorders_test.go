package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// Metrics and logs contain what happened, but no secrets.
func TestRecorders(t *testing.T) {
	p := &provider{respond: func(n int, _ *http.Request) (*http.Response, error) {
		if n == 1 {
			return jsonResponse(429, `{"error":{"message":"no","type":"requests","code":"rate_limit_exceeded"}}`, "Retry-After", "2", "x-request-id", "req-1")
		}
		return jsonResponse(200, chatAnswer, "x-request-id", "req-2")
	}}
	var out bytes.Buffer
	m := NewMetrics()
	cfg := configOf(retryFour)
	cfg.Recorder = Recorders(m, Log(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	withTransport(t, p, cfg, func(tr *Transport) {
		_, _, err := post(context.Background(), tr, chatRequest)
		require.NoError(t, err)
	})
	require.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(`
# HELP herdlab_live_attempts_total Attempts that ended, by class of their outcome.
# TYPE herdlab_live_attempts_total counter
herdlab_live_attempts_total{class="ok"} 1
herdlab_live_attempts_total{class="rate"} 1
# HELP herdlab_live_calls_total Calls that are over, by reason and class.
# TYPE herdlab_live_calls_total counter
herdlab_live_calls_total{class="ok",reason="succeeded"} 1
# HELP herdlab_live_output_tokens_total Output tokens received; of streams, those before the caller reads.
# TYPE herdlab_live_output_tokens_total counter
herdlab_live_output_tokens_total 7
# HELP herdlab_live_request_bytes_total Bytes of request bodies of known length, over all attempts.
# TYPE herdlab_live_request_bytes_total counter
herdlab_live_request_bytes_total `+fmt.Sprint(2*len(chatRequest))+`
# HELP herdlab_live_switched_attempts_total Attempts with another model, region or key than the first.
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

// The record of a failure contains the model's name, sizes, waits and hints, but
// no key, not even from the URL in an error.
func TestRecordsOfFailures(t *testing.T) {
	gemini := "http://herd.test/v1beta/models/flash:generateContent?key=secret"
	ladder := layers.Ladder{Rungs: []layers.Rung{{Model: 0}, {Model: 1}}, On: layers.Rules{Classes: strategies.Transient}, Backoff: backoffs.Fixed{Every: time.Second}}
	hedge := layers.Hedge{After: time.Second, Scope: strategies.PerClient}
	for name, c := range map[string]struct {
		layers []strategies.Layer
		url    string
		models []string // of all attempts
		waits  []time.Duration
	}{
		"alone":       {[]strategies.Layer{retryFour}, "http://herd.test/v1/chat/completions", []string{"m", "m", "m", "m"}, []time.Duration{0, 1e9, 1e9, 1e9}},
		"ladder":      {[]strategies.Layer{ladder}, "http://herd.test/v1/chat/completions", []string{"m", "light"}, []time.Duration{0, 1e9}},
		"hedged":      {[]strategies.Layer{hedge}, "http://herd.test/v1/chat/completions", []string{"m"}, []time.Duration{0}},
		"in the path": {nil, gemini, []string{"flash"}, []time.Duration{0}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{respond: func(_ int, r *http.Request) (*http.Response, error) {
				return nil, &url.Error{Op: "Post", URL: r.URL.String(), Err: &url.Error{Op: "Post", URL: r.URL.String(), Err: io.ErrUnexpectedEOF}}
			}}
			var h recording
			var out bytes.Buffer
			cfg := configOf(c.layers...)
			cfg.Recorder = Recorders(&h, NewMetrics(), Log(slog.New(slog.NewTextHandler(&out, nil))))
			if name == "ladder" {
				cfg.Models = []string{"m", "light"}
			}
			withTransport(t, p, cfg, func(tr *Transport) {
				req, err := http.NewRequest(http.MethodPost, c.url, strings.NewReader(chatRequest))
				require.NoError(t, err)
				req.Header.Set("Authorization", "Bearer secret")
				_, err = tr.RoundTrip(req)
				require.Error(t, err)
			})
			require.Len(t, h.attempts, len(c.models))
			for i, a := range h.attempts {
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
