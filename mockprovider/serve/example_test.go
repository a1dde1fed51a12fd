package serve_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/serve"
)

// Ask is the production code of this example. It retries until its context ends; the
// wait is the one that a refusal asks for, or else 1, 2, 4, … s, at most 60 s.
func Ask(ctx context.Context, client *http.Client, question string) (string, error) {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		body := fmt.Sprintf(`{"model":"demo","messages":[{"role":"user","content":%q}]}`, question)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://api.example.com/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			return "", err
		}
		req.Header.Set("Authorization", "Bearer sk-production")
		pause := wait
		resp, err := client.Do(req)
		if err == nil {
			text, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err == nil && resp.StatusCode == http.StatusOK {
				return string(text), nil
			}
			if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
				pause = time.Duration(s) * time.Second
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// A day of a worker with one request per minute and an outage of an hour, in virtual
// time and without sockets.
func TestDayWithOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider := serve.Must(serve.Config{Provider: serve.Default()})
		_, err := provider.Inject(faults.Outage(10*time.Hour, 11*time.Hour, mockprovider.Refusal{}))
		require.NoError(t, err)
		for begin := time.Now(); time.Since(begin) < 24*time.Hour; time.Sleep(time.Minute) {
			_, err := Ask(t.Context(), provider.Client(), "How are you?") // your own code
			require.NoError(t, err)
		}
		count := provider.State().Counters
		require.Less(t, float64(count.Arrivals)/float64(count.Replies.Of("ok")), 1.06) // attempts per answer
	})
}

// A call during the outage waits for its end, and at most the longest wait longer.
func TestCallDuringOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider := serve.Must(serve.Config{Provider: serve.Default()})
		_, err := provider.Inject(faults.Outage(0, time.Hour, mockprovider.Refusal{}))
		require.NoError(t, err)
		asked := time.Now()
		_, err = Ask(t.Context(), provider.Client(), "How are you?")
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Since(asked), time.Hour)
		require.Less(t, time.Since(asked), time.Hour+62*time.Second)
	})
}
