package conformance

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
)

// get sends one request and takes every status from 400 up for a failure.
func get(s *server) error {
	r, err := http.NewRequest(http.MethodGet, "http://herd.test/", nil)
	if err != nil {
		return err
	}
	resp, err := s.RoundTrip(r)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode >= 400 {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}

// go-retryablehttp makes five attempts with waits of 1, 2, 4 and 8 s, without jitter. It
// obeys Retry-After of a 429 or a 503, of any length.
func TestRetryableHTTP(t *testing.T) {
	call := func(s *server) error {
		c := retryablehttp.NewClient()
		c.Logger, c.HTTPClient = nil, &http.Client{Transport: s}
		resp, err := c.Get("http://herd.test/")
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode >= 400 {
			return fmt.Errorf("status %d", resp.StatusCode)
		}
		return nil
	}
	doubling := []wait{exactly(time.Second), exactly(2 * time.Second), exactly(4 * time.Second), exactly(8 * time.Second)}
	for name, c := range map[string]struct {
		answer answer
		waits  []wait
	}{
		"429":               {answer{status: 429}, doubling},
		"503":               {answer{status: 503}, doubling},
		"529":               {answer{status: 529}, doubling},
		"500":               {answer{status: 500}, doubling},
		"501":               {answer{status: 501}, once},
		"408":               {answer{status: 408}, once},
		"401":               {answer{status: 401}, once},
		"a broken line":     {answer{reset: true}, doubling},
		"429, an hour":      {answer{status: 429, header: "Retry-After: 3600"}, []wait{exactly(time.Hour), exactly(time.Hour), exactly(time.Hour), exactly(time.Hour)}},
		"500 with a hint":   {answer{status: 500, header: "Retry-After: 60"}, doubling},
		"200 around 14003":  {answer{status: 200, body: `{"code":14003,"retry_after":3}`}, once},
		"429, fraction 1.5": {answer{status: 429, header: "Retry-After: 1.5"}, doubling},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, call, verdict{c.waits, c.answer.status == 200}, c.answer)
		})
	}
}

// cenkalti/backoff waits 0.5 s · 1.5ⁿ, at most 60 s, each × U(0.5, 1.5), and stops before
// a wait that would end after 15 minutes.
func TestCenkaltiBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(answer{status: 503})
		_, err := backoff.Retry(context.Background(), func() (int, error) { return 0, get(s) }, backoff.WithBackOff(backoff.NewExponentialBackOff()))
		require.Error(t, err)
		interval := float64(500 * ms)
		for i, w := range s.waits() {
			require.GreaterOrEqual(t, float64(w), interval/2-1, "wait %d", i+1)
			require.LessOrEqual(t, float64(w), interval*3/2+1, "wait %d", i+1)
			interval = min(interval*1.5, float64(time.Minute))
		}
		last := s.at[len(s.at)-1]
		require.LessOrEqual(t, last, 15*time.Minute)
		require.Greater(t, last, 15*time.Minute-90*time.Second)
	})
	// A hint of the server replaces the interval.
	synctest.Test(t, func(t *testing.T) {
		s := newServer(answer{status: 503}, answer{status: 200})
		_, err := backoff.Retry(context.Background(), func() (int, error) {
			if err := get(s); err != nil {
				return 0, backoff.RetryAfter(7)
			}
			return 0, nil
		})
		require.NoError(t, err)
		require.Equal(t, []time.Duration{7 * time.Second}, s.waits())
	})
}

// gobreaker opens after more than five failures in a row, for a minute, and then admits
// one probe.
func TestGobreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(answer{status: 503})
		b := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{})
		try := func() error {
			_, err := b.Execute(func() (int, error) { return 0, get(s) })
			return err
		}
		for range 6 {
			require.NotErrorIs(t, try(), gobreaker.ErrOpenState)
		}
		require.ErrorIs(t, try(), gobreaker.ErrOpenState)
		require.Len(t, s.at, 6)
		time.Sleep(60*time.Second - 1)
		require.ErrorIs(t, try(), gobreaker.ErrOpenState)
		time.Sleep(2 * time.Nanosecond)
		require.NotErrorIs(t, try(), gobreaker.ErrOpenState) // the probe, which fails
		require.ErrorIs(t, try(), gobreaker.ErrOpenState)
		require.Len(t, s.at, 7)
	})
}

// failsafe-go's retry policy retries twice, at once.
func TestFailsafe(t *testing.T) {
	play(t, func(s *server) error {
		return failsafe.With(retrypolicy.NewWithDefaults[any]()).Run(func() error { return get(s) })
	}, verdict{both(exactly(0)), false}, answer{status: 503})
}

// x/time/rate gives its waiters reservations in the future and cannot return those of
// waiters that leave, oldest first: after two thousand have left, the next waiter is
// admitted after a minute and a half although nothing is sent.
func TestRateLimiterInDebt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 2000
		start := time.Now()
		l := rate.NewLimiter(20, 5)
		var waiting []*rate.Reservation
		admitted := 0
		for range n {
			if r := l.Reserve(); r.Delay() <= time.Second {
				admitted++
			} else {
				waiting = append(waiting, r)
			}
			time.Sleep(time.Microsecond)
		}
		time.Sleep(time.Second - time.Since(start))
		for _, r := range waiting {
			r.Cancel()
		}
		require.Equal(t, 25, admitted)
		require.InDelta(t, -1974, l.Tokens(), 1)
		require.InDelta(t, 98.8, l.Reserve().Delay().Seconds(), 0.1)
	})
}
