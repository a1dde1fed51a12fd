package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
)

// A client in the same process gets the same as one with a socket.
func TestInProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Must(Config{Provider: quick()})
		c := s.Client()

		// It hangs up during a stream: unread data is lost.
		ctx, cancel := context.WithCancel(t.Context())
		resp, err := c.Do(chat(ctx, t, "http://herd", true))
		require.NoError(t, err)
		buf := make([]byte, 4096)
		_, err = resp.Body.Read(buf)
		require.NoError(t, err)
		cancel()
		synctest.Wait()
		_, err = resp.Body.Read(buf)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, resp.Body.Close())
		require.EqualValues(t, 1, s.State().Counters.Abandoned)
		require.Equal(t, 1, s.State().InFlight, "this provider does not notice it")
		time.Sleep(time.Second)
		require.Zero(t, s.State().InFlight)

		// It closes the body early, or does not close it: no goroutine is left.
		resp, err = c.Do(chat(t.Context(), t, "http://herd", true))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		_, err = resp.Body.Read(buf)
		require.ErrorIs(t, err, http.ErrBodyReadAfterClose)
		synctest.Wait()
		require.EqualValues(t, 2, s.State().Counters.Abandoned)
		_, err = c.Do(chat(t.Context(), t, "http://herd", true)) //nolint:bodyclose // on purpose
		require.NoError(t, err)
		_, err = c.Do(chat(t.Context(), t, "http://herd", false)) //nolint:bodyclose // on purpose
		require.NoError(t, err)

		// The client's own timeout.
		c.Timeout = 50 * time.Millisecond
		start := time.Now()
		_, err = c.Do(chat(t.Context(), t, "http://herd", false))
		var timeout interface{ Timeout() bool }
		require.True(t, errors.As(err, &timeout) && timeout.Timeout(), "%v", err)
		require.Equal(t, 50*time.Millisecond, time.Since(start))

		// A request without a body, and the content length of the response.
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://herd/v1/models", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer sk-any")
		a := ask(t, s.Client(), r)
		require.Equal(t, http.StatusOK, a.StatusCode)
		require.Contains(t, a.body, "herdlab-large")
		require.Equal(t, int64(len(a.body)), a.ContentLength)
		require.Equal(t, "200 OK", a.Status)
	})
}

// A panic of the handler is an error of its request and does not end the process.
func TestInProcessPanic(t *testing.T) {
	c := http.Client{Transport: &localTransport{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/late" {
			_, _ = io.WriteString(w, "some")
		}
		panic("a bug")
	})}}
	_, err := c.Post("http://x/early", "text/plain", strings.NewReader("body"))
	require.ErrorContains(t, err, "a bug")
	resp, err := c.Post("http://x/late", "text/plain", strings.NewReader("body"))
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.Equal(t, "some", string(text))
	require.ErrorContains(t, err, "a bug")
}

// Ten thousand simultaneous clients in virtual time.
func TestManyInProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := quick()
		p.Slots, p.Queue = 100, 20_000
		s := Must(Config{Provider: p})
		const n = 10_000
		ended := make(chan int, n)
		for range n {
			go func() { ended <- ask(t, s.Client(), chat(t.Context(), t, "http://herd", false)).StatusCode }()
		}
		start := time.Now()
		for range n {
			require.Equal(t, http.StatusOK, <-ended)
		}
		require.Equal(t, n/100*150*time.Millisecond, time.Since(start), "100 at a time, 150 ms each")
	})
}

// An account that gets a new owner has unused limits.
func TestNewTenantHasUnusedLimits(t *testing.T) {
	p := mockprovider.Config{Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Hour, Terms: mockprovider.Terms{Per: mockprovider.Account}}}}
	s := Must(Config{Provider: p, Tenants: 2})
	send := func(key string) int {
		r := chat(t.Context(), t, "http://herd", false)
		r.Header.Set("Authorization", "Bearer "+key)
		return ask(t, s.Client(), r).StatusCode
	}
	for _, x := range []struct {
		key    string
		status int
	}{{"a", 200}, {"a", 429}, {"b", 200}, {"c", 200}, {"c", 429}, {"b", 429}, {"a", 200}, {"b", 429}} {
		require.Equal(t, x.status, send(x.key), "%+v", x)
	}
}
