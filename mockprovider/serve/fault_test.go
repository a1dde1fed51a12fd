package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/wire"
)

// The two kinds of client: with sockets and without.
func bothWays(t *testing.T, cfg Config, f func(t *testing.T, c *http.Client, url string)) {
	t.Run("sockets", func(t *testing.T) {
		s := NewTestServer(t, cfg)
		c := &http.Client{Transport: &http.Transport{}}
		t.Cleanup(c.CloseIdleConnections)
		f(t, c, s.URL)
	})
	t.Run("in process", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, err := New(cfg)
			require.NoError(t, err)
			f(t, s.Client(), "http://herd")
		})
	})
}

// The effects of faults on a client, with sockets and without.
func TestFaultsOverHTTP(t *testing.T) {
	const finish = "data: [DONE]"
	reset := func(err error) bool {
		return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	}
	for name, x := range map[string]struct {
		does   mockprovider.Disturbance
		stream bool
		check  func(t *testing.T, a answer)
		lost   bool // the connection is lost before a reply
	}{
		"none, whole": {does: faults.Latency{Factor: 1}, check: func(t *testing.T, a answer) {
			require.NoError(t, a.err)
			require.Contains(t, a.body, `"finish_reason":"length"`)
			require.Contains(t, a.body, `"completion_tokens":5`)
		}},
		"none, streamed": {does: faults.Latency{Factor: 1}, stream: true, check: func(t *testing.T, a answer) {
			require.NoError(t, a.err)
			require.Contains(t, a.body, finish)
			require.Equal(t, "text/event-stream", a.Header.Get("Content-Type"))
			require.Empty(t, a.Header.Get("Content-Length"))
		}},
		"reset before the headers": {does: faults.Reset{}, lost: true},
		"reset after the headers": {does: faults.Reset{When: faults.AfterHead}, stream: true, check: func(t *testing.T, a answer) {
			require.True(t, reset(a.err), "%v", a.err)
			require.NotContains(t, a.body, finish)
		}},
		"cut, whole": {does: faults.Spoil{Body: wire.TruncatedBody}, check: func(t *testing.T, a answer) {
			require.ErrorIs(t, a.err, io.ErrUnexpectedEOF)
			require.NotEmpty(t, a.body)
			require.Greater(t, a.ContentLength, int64(len(a.body)))
		}},
		"cut, streamed": {does: faults.Spoil{Body: wire.TruncatedBody, Tokens: 2}, stream: true, check: func(t *testing.T, a answer) {
			require.ErrorIs(t, a.err, io.ErrUnexpectedEOF)
			require.Contains(t, a.body, "herd ")
			require.NotContains(t, a.body, finish)
		}},
		"error in the stream": {does: faults.Spoil{Body: wire.StreamError, Tokens: 2}, stream: true, check: func(t *testing.T, a answer) {
			require.NoError(t, a.err)
			require.Equal(t, http.StatusOK, a.StatusCode)
			require.Contains(t, a.body, "herd ")
			require.Contains(t, a.body, "server_is_overloaded")
			require.NotContains(t, a.body, finish)
		}},
		"silent end": {does: faults.Spoil{Body: wire.SilentEnd, Tokens: 2}, stream: true, check: func(t *testing.T, a answer) {
			require.NoError(t, a.err)
			require.Contains(t, a.body, "herd ")
			require.NotContains(t, a.body, finish)
			require.NotContains(t, a.body, "length")
		}},
		"doubled": {does: faults.Spoil{Body: wire.Doubled}, check: func(t *testing.T, a answer) {
			require.NoError(t, a.err)
			require.Equal(t, 2, strings.Count(a.body, `"finish_reason":"length"`))
		}},
		"garbage": {does: faults.Spoil{Body: wire.Garbage}, check: func(t *testing.T, a answer) {
			require.NoError(t, a.err)
			require.Equal(t, http.StatusOK, a.StatusCode)
			require.NotContains(t, a.body, "finish_reason")
		}},
		"garbage in place of a stream": {does: faults.Spoil{Body: wire.Garbage}, stream: true, check: func(t *testing.T, a answer) {
			require.NoError(t, a.err)
			require.Equal(t, "application/json", a.Header.Get("Content-Type"))
			require.NotEmpty(t, a.body)
			require.NotContains(t, a.body, "data:")
		}},
		"wrong type": {does: faults.Spoil{Body: wire.WrongType}, check: func(t *testing.T, a answer) {
			require.Contains(t, a.Header.Get("Content-Type"), "text/html")
			require.Contains(t, a.body, "<html>")
		}},
		"outage": {does: faults.Refuse{}, stream: true, check: func(t *testing.T, a answer) {
			require.Equal(t, http.StatusServiceUnavailable, a.StatusCode)
			require.Contains(t, a.body, "server_is_overloaded")
			require.Empty(t, a.Header.Get(OriginHeader), "a reply of the provider")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, Config{Provider: withFault(x.does)}, func(t *testing.T, c *http.Client, url string) {
				r := chat(t.Context(), t, url, x.stream)
				if x.lost {
					_, err := c.Do(r)
					require.True(t, reset(err), "%v", err)
					return
				}
				x.check(t, ask(t, c, r))
			})
		})
	}
}

// A request without an answer is held until its client hangs up, or for MaxHold.
func TestRequestsWithoutAnswerAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Must(Config{Provider: withFault(faults.Silence{}), MaxHold: time.Hour})
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := s.Client().Do(chat(ctx, t, "http://herd", false))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(start))
		_, err = s.Client().Do(chat(t.Context(), t, "http://herd", false))
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, time.Minute+time.Hour, time.Since(start))
		require.EqualValues(t, 2, s.State().Counters.Dropped)
		require.Zero(t, s.State().InFlight)
	})
}

// A stalled stream sends its first tokens in time, and then nothing.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Must(Config{Provider: withFault(faults.Stall{Tokens: 2})})
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		resp, err := s.Client().Do(chat(ctx, t, "http://herd", true))
		require.NoError(t, err)
		require.Equal(t, 100*time.Millisecond, time.Since(start), "the head")
		var got strings.Builder
		buf, last := make([]byte, 4096), time.Duration(0)
		for {
			n, err := resp.Body.Read(buf)
			if err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				break
			}
			got.Write(buf[:n])
			last = time.Since(start)
		}
		require.Equal(t, 110*time.Millisecond, last, "the second token")
		require.Contains(t, got.String(), "herd ")
		require.NotContains(t, got.String(), "comes ")
		require.Equal(t, time.Minute, time.Since(start))
	})
}

// Tokens are sent at equal intervals between the head and the end.
func TestPacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Must(Config{Provider: quick()})
		start := time.Now()
		resp, err := s.Client().Do(chat(t.Context(), t, "http://herd", true))
		require.NoError(t, err)
		var at []time.Duration
		buf := make([]byte, 4096)
		for err == nil {
			var n int
			if n, err = resp.Body.Read(buf); n > 0 {
				at = append(at, time.Since(start))
			}
		}
		require.ErrorIs(t, err, io.EOF)
		ms := time.Millisecond
		require.Equal(t, []time.Duration{100 * ms, 110 * ms, 120 * ms, 130 * ms, 140 * ms, 150 * ms}, at)
	})
}
