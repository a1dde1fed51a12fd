package live

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// An error in a stream is retried before the first token. After that it is the
// caller's, and it is recorded.
func TestStreams(t *testing.T) {
	for name, c := range map[string]struct {
		first    []string
		end      error
		attempts int
		body     string
		class    wire.Class
	}{
		"complete":               {[]string{tokenEvent, tokenEvent, finishEvent, doneEvent}, nil, 1, tokenEvent + tokenEvent + finishEvent + doneEvent, wire.OK},
		"before the first token": {[]string{overloadedEvent}, nil, 2, tokenEvent + finishEvent + doneEvent, wire.OK},
		"after it":               {[]string{tokenEvent, overloadedEvent}, nil, 1, tokenEvent + overloadedEvent, wire.Overloaded},
		"a silent end":           {[]string{tokenEvent, tokenEvent}, nil, 1, tokenEvent + tokenEvent, wire.ConnectionLost},
		"an early silent end":    {nil, nil, 2, tokenEvent + finishEvent + doneEvent, wire.OK},
		"an early break":         {nil, io.ErrUnexpectedEOF, 2, tokenEvent + finishEvent + doneEvent, wire.OK},
		"a late break":           {[]string{tokenEvent}, io.ErrUnexpectedEOF, 1, tokenEvent, wire.ConnectionLost},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{respond: func(n int, _ *http.Request) (*http.Response, error) {
				if n == 1 {
					return streamResponse(200, c.end, c.first...)
				}
				return streamResponse(200, nil, tokenEvent, finishEvent, doneEvent)
			}}
			var h recording
			cfg := configOf(retryFour)
			cfg.Recorder = &h
			withTransport(t, p, cfg, func(tr *Transport) {
				_, body, err := post(context.Background(), tr, chatRequest)
				if c.end != nil && c.attempts == 1 {
					require.ErrorIs(t, err, c.end)
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, c.body, body)
				require.EqualValues(t, c.attempts, p.requests.Load())
				require.Len(t, h.calls, 1)
				require.Equal(t, c.class, h.calls[0].Class)
				for _, a := range h.attempts {
					require.Equal(t, "m", a.Model)
				}
			})
		})
	}
	t.Run("closed by the caller", func(t *testing.T) {
		p := &provider{respond: func(int, *http.Request) (*http.Response, error) {
			return streamResponse(200, nil, tokenEvent, tokenEvent, tokenEvent, tokenEvent)
		}}
		var h recording
		cfg := configOf(retryFour)
		cfg.Recorder = &h
		withTransport(t, p, cfg, func(tr *Transport) {
			req, err := http.NewRequest(http.MethodPost, "http://herd.test/", strings.NewReader(chatRequest))
			require.NoError(t, err)
			resp, err := tr.RoundTrip(req)
			require.NoError(t, err)
			buf := make([]byte, len(tokenEvent))
			_, err = io.ReadFull(resp.Body, buf)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, strategies.CallerCancelled, h.calls[0].Reason)
		})
	})
}

var hedge = layers.Hedge{After: 250 * time.Millisecond, Scope: strategies.PerClient}

// The stream that begins first is the answer; the other attempt is cancelled, also
// if its stream begins at the same time.
func TestHedgedStreams(t *testing.T) {
	for _, slow := range []time.Duration{250 * time.Millisecond, 300 * time.Millisecond, time.Hour} {
		p := &provider{respond: func(n int, r *http.Request) (*http.Response, error) {
			if n == 1 {
				select {
				case <-time.After(slow):
				case <-r.Context().Done():
					time.Sleep(time.Millisecond) // the call does not wait for it
				}
			}
			return streamResponse(200, nil, tokenEvent, tokenEvent, finishEvent, doneEvent)
		}}
		var h recording
		cfg := configOf(hedge)
		cfg.Recorder = &h
		withTransport(t, p, cfg, func(tr *Transport) {
			_, body, err := post(context.Background(), tr, chatRequest)
			require.NoError(t, err)
			require.Equal(t, tokenEvent+tokenEvent+finishEvent+doneEvent, body)
			require.Equal(t, wire.OK, h.calls[0].Class)
			require.EqualValues(t, 2, p.requests.Load())
		})
	}
}

// A stream that the caller leaves after the finish marker has succeeded; before it,
// the call is cancelled.
func TestClosingStreams(t *testing.T) {
	for name, c := range map[string]struct {
		read   int
		cancel bool
		want   strategies.Reason
	}{
		"closed early":     {len(tokenEvent), false, strategies.CallerCancelled},
		"cancelled early":  {len(tokenEvent), true, strategies.CallerCancelled},
		"closed at end":    {len(tokenEvent + finishEvent + doneEvent), false, strategies.Succeeded},
		"cancelled at end": {len(tokenEvent + finishEvent + doneEvent), true, strategies.Succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{respond: func(int, *http.Request) (*http.Response, error) {
				return streamResponse(200, nil, tokenEvent, finishEvent, doneEvent, ": and on it goes\n\n")
			}}
			var h recording
			cfg := configOf(retryFour, layers.Concurrency{Permits: 1, Scope: strategies.PerFleet})
			cfg.Recorder = &h
			withTransport(t, p, cfg, func(tr *Transport) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://herd.test/", strings.NewReader(chatRequest))
				require.NoError(t, err)
				resp, err := tr.RoundTrip(req)
				require.NoError(t, err)
				_, err = io.ReadFull(resp.Body, make([]byte, c.read))
				require.NoError(t, err)
				if c.cancel {
					cancel()
					synctest.Wait()
					require.Equal(t, c.want, h.calls[0].Reason) // before Close
				}
				require.NoError(t, resp.Body.Close())
				require.NoError(t, resp.Body.Close())
				require.Equal(t, c.want, h.calls[0].Reason)
				require.Len(t, h.calls, 1)
				_, err = resp.Body.Read(make([]byte, 1))
				require.Error(t, err)
				_, _, err = post(context.Background(), tr, chatRequest) // the permit is free again
				require.NoError(t, err)
			})
		})
	}
}

// The timeout of an attempt includes its stream, before and after the first token.
func TestTimeoutsOfStreams(t *testing.T) {
	for _, tokens := range []int{0, 1, 9} {
		p := &provider{respond: func(_ int, r *http.Request) (*http.Response, error) {
			resp, err := streamResponse(200, nil, strings.Split(strings.Repeat(tokenEvent+"|", tokens)+": wait\n\n", "|")...)
			pipe := resp.Body.(*io.PipeReader)
			context.AfterFunc(r.Context(), func() { pipe.CloseWithError(context.Cause(r.Context())) })
			return resp, err
		}}
		p.respond = withoutEnd(p.respond)
		var h recording
		cfg := configOf(layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 2}, layers.AttemptTimeout{After: 5 * time.Second})
		cfg.Recorder = &h
		withTransport(t, p, cfg, func(tr *Transport) {
			start := time.Now()
			_, body, err := post(context.Background(), tr, chatRequest)
			require.Error(t, err)
			require.Equal(t, wire.Timeout, h.calls[0].Class)
			if tokens == 0 {
				require.Equal(t, 11*time.Second, time.Since(start))
				require.EqualValues(t, 2, p.requests.Load())
				return
			}
			require.Contains(t, body, strings.Repeat(tokenEvent, tokens))
			require.Equal(t, 5*time.Second, time.Since(start))
			require.EqualValues(t, 1, p.requests.Load())
		})
	}
}

// withoutEnd makes streams that end only with their context.
func withoutEnd(answer func(int, *http.Request) (*http.Response, error)) func(int, *http.Request) (*http.Response, error) {
	return func(n int, r *http.Request) (*http.Response, error) {
		resp, err := answer(n, r)
		resp.Body = &endlessBody{resp.Body, r.Context()}
		return resp, err
	}
}

type endlessBody struct {
	io.ReadCloser
	ctx context.Context
}

func (s *endlessBody) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err == io.EOF {
		<-s.ctx.Done()
		err = context.Cause(s.ctx)
	}
	return n, err
}

// A stream may be closed during a Read.
func TestCloseWhileReading(t *testing.T) {
	for range 50 {
		p := &provider{respond: func(int, *http.Request) (*http.Response, error) {
			r, w := io.Pipe()
			go func() {
				for {
					if _, err := io.WriteString(w, tokenEvent); err != nil {
						return
					}
				}
			}()
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: r, ContentLength: -1}, nil
		}}
		tr := Must(Config{Base: p, Strategy: strategies.Definition{Name: "mine"}})
		ctx, cancel := context.WithCancel(context.Background())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://herd.test/", nil)
		require.NoError(t, err)
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = io.Copy(io.Discard, resp.Body) })
		runtime.Gosched()
		wg.Go(cancel)
		wg.Go(func() { resp.Body.Close() })
		wg.Go(func() { resp.Body.Close() })
		wg.Wait()
		require.Zero(t, p.openBodies.Load())
		require.Eventually(t, func() bool {
			tr.shared.mu.Lock()
			defer tr.shared.mu.Unlock()
			return len(tr.freeRows) == 1
		}, time.Second, time.Millisecond)
		tr.Close()
	}
}
