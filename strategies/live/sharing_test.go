package live

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/layers"
)

// Equal simultaneous calls are sent once; each caller gets the whole answer.
func TestSingleFlight(t *testing.T) {
	p := &provider{respond: func(int, *http.Request) (*http.Response, error) {
		time.Sleep(time.Second)
		return jsonResponse(200, chatAnswer)
	}}
	withTransport(t, p, configOf(layers.SingleFlight{Scope: strategies.PerFleet}), func(tr *Transport) {
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				_, body, err := post(context.Background(), tr, chatRequest)
				require.NoError(t, err)
				require.Equal(t, chatAnswer, body)
			})
		}
		wg.Go(func() {
			_, _, err := post(context.Background(), tr, strings.Replace(chatRequest, "hi", "ho", 1))
			require.NoError(t, err)
		})
		wg.Wait()
		require.EqualValues(t, 2, p.requests.Load())
	})
}

// Equal calls get the cached answer until it expires.
func TestCache(t *testing.T) {
	p := &provider{respond: func(int, *http.Request) (*http.Response, error) { return jsonResponse(200, chatAnswer) }}
	withTransport(t, p, configOf(layers.Cache{TTL: time.Minute, Entries: 64, Scope: strategies.PerFleet}), func(tr *Transport) {
		for i := range 5 {
			_, body, err := post(context.Background(), tr, chatRequest)
			require.NoError(t, err)
			require.Equal(t, chatAnswer, body, i)
		}
		require.EqualValues(t, 1, p.requests.Load())
		time.Sleep(time.Minute)
		_, _, err := post(context.Background(), tr, chatRequest)
		require.NoError(t, err)
		require.EqualValues(t, 2, p.requests.Load())
	})
}

// A stream cannot be shared: each follower sends its own request.
func TestSingleFlightOfStreams(t *testing.T) {
	p := &provider{respond: func(int, *http.Request) (*http.Response, error) {
		return streamResponse(200, nil, tokenEvent, finishEvent, doneEvent)
	}}
	flight := strategies.Script(func(s *strategies.Session) error {
		if r := s.Send(); !r.OK() {
			return strategies.ErrGaveUp
		}
		return nil
	})
	for _, q := range []string{chatRequest, strings.Replace(chatRequest, `{`, `{"stream":true,`, 1)} {
		withTransport(t, p, configOf(layers.SingleFlight{Scope: strategies.PerFleet}, flight), func(tr *Transport) {
			var wg sync.WaitGroup
			start := time.Now()
			for range 10 {
				wg.Go(func() {
					_, body, err := post(context.Background(), tr, q)
					require.NoError(t, err)
					require.Equal(t, tokenEvent+finishEvent+doneEvent, body)
				})
			}
			wg.Wait()
			require.LessOrEqual(t, time.Since(start), 400*time.Millisecond)
			require.Empty(t, tr.flights)
		})
	}
}

// If the leader is cancelled, a follower becomes the leader; if it fails, all fail.
func TestSingleFlightLeaderCancelsOrFails(t *testing.T) {
	broken := errors.New("broken")
	p := &provider{respond: func(n int, r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(time.Second):
			return nil, broken
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}}
	withTransport(t, p, configOf(layers.SingleFlight{Scope: strategies.PerFleet}), func(tr *Transport) {
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				time.Sleep(time.Duration(i)) // in a defined order
				if i%2 == 0 {
					time.AfterFunc(time.Duration(i+1)*10*time.Millisecond, cancel)
				}
				_, _, err := post(ctx, tr, chatRequest)
				if i%2 == 0 {
					require.ErrorIs(t, err, context.Canceled)
				} else {
					require.ErrorIs(t, err, broken)
				}
			})
		}
		wg.Wait()
		require.Empty(t, tr.flights)
	})
}

// No call gets the answer to another body or another key.
func TestAnswersAreNotMixedUp(t *testing.T) {
	p := &provider{}
	p.respond = func(_ int, r *http.Request) (*http.Response, error) {
		time.Sleep(time.Second)
		return jsonResponse(200, chatAnswer, "X-For", r.Header.Get("Authorization")+p.bodies[len(p.bodies)-1])
	}
	cfg := configOf(layers.Cache{TTL: time.Hour, Entries: 64, Scope: strategies.PerFleet}, layers.SingleFlight{Scope: strategies.PerFleet})
	withTransport(t, p, cfg, func(tr *Transport) {
		for range 3 {
			for _, key := range []string{"a", "b"} {
				for _, q := range []string{chatRequest, strings.Replace(chatRequest, "{", `{"temperature":2,`, 1)} {
					req, err := http.NewRequest(http.MethodPost, "http://herd.test/v1/chat/completions", strings.NewReader(q))
					require.NoError(t, err)
					req.Header.Set("Authorization", key)
					resp, err := tr.RoundTrip(req)
					require.NoError(t, err)
					require.Equal(t, key+q, resp.Header.Get("X-For"))
					require.Equal(t, key, resp.Request.Header.Get("Authorization"))
					require.NoError(t, resp.Body.Close())
				}
			}
		}
		require.EqualValues(t, 4, p.requests.Load())
	})
}

// Strategies identify requests by 32-bit numbers, which may collide.
func TestEqualPromptNumbersAreNotEqualRequests(t *testing.T) {
	p := echo()
	withTransport(t, p, configOf(samePrompt{prompt: 7}, layers.SingleFlight{Scope: strategies.PerFleet}), func(tr *Transport) {
		for i, r := range runStaggered(callFor(tr, "a", 0), callFor(tr, "b", 0), callFor(tr, "a", 0)) {
			require.NoError(t, r.err)
			require.Equal(t, answerFor([]string{"a", "b", "a"}[i]), r.body)
		}
		require.EqualValues(t, 2, p.requests.Load())
	})
}

// An evicted answer is requested again, and the cache stays within MaxCache.
func TestEvictedAnswers(t *testing.T) {
	p := &provider{respond: func(n int, _ *http.Request) (*http.Response, error) {
		return jsonResponse(200, strings.Replace(chatAnswer, "hi", strings.Repeat("h", 1000*(n%7)), 1))
	}}
	cfg := configOf(layers.Cache{TTL: time.Hour, Entries: 512, Scope: strategies.PerFleet})
	cfg.MaxCache = 20_000
	var h recording
	cfg.Recorder = &h
	withTransport(t, p, cfg, func(tr *Transport) {
		for i := range 300 {
			_, _, err := post(context.Background(), tr, strings.Replace(chatRequest, "hi", strings.Repeat("x", i%50), 1))
			require.NoError(t, err)
			m := &tr.shared.cache
			sum := int64(0)
			for e := m.byAge.Front(); e != nil; e = e.Next() {
				sum += e.Value.(*cacheEntry).bytes
			}
			require.Equal(t, sum, m.bytes)
			require.Len(t, m.entries, m.byAge.Len())
			require.LessOrEqual(t, sum, cfg.MaxCache)
		}
		require.Len(t, h.calls, 300)
	})
}
