package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/sim/traffic"
)

// The access log contains demands and results but no secrets, and is a recorded trace.
func TestAccessLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := quick()
		p.Limits = []mockprovider.Limit{limits.Window{Limit: 2, Length: time.Minute}}
		s := Must(Config{Provider: p, AccessLog: &log, OutputTokens: 7})
		first := make(chan answer, 1)
		go func() { first <- ask(t, s.Client(), chat(t.Context(), t, "http://herd", true)) }()
		time.Sleep(20 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := s.Client().Do(chat(ctx, t, "http://herd", false))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait() // until the server notices it
		refused := chat(t.Context(), t, "http://herd", false)
		refused.Header.Set("X-Stainless-Retry-Count", "2")
		require.Equal(t, 429, ask(t, s.Client(), refused).StatusCode)
		<-first
		bad := chat(t.Context(), t, "http://herd", false)
		bad.Body = http.NoBody
		require.Equal(t, 400, ask(t, s.Client(), bad).StatusCode)
		lost := chat(t.Context(), t, "http://herd", false)
		lost.URL.Path = "/nowhere"
		require.Equal(t, 404, ask(t, s.Client(), lost).StatusCode)
		require.NoError(t, s.Reset())
		time.Sleep(time.Second)
		ask(t, s.Client(), chat(t.Context(), t, "http://herd", false))

		var lines []Access
		for line := range strings.Lines(log.String()) {
			var a Access
			require.NoError(t, json.Unmarshal([]byte(line), &a))
			require.Len(t, a.Tenant, 8)
			require.NotEmpty(t, a.ID)
			a.Tenant, a.ID = "", ""
			lines = append(lines, a)
		}
		const prompt = 8
		common := Access{Prompt: prompt, Output: 5, Attempt: 1, Dialect: "openai", Model: "demo"}
		unread := Access{At: 0.15, Class: "bad_request", Attempt: 1, Dialect: "openai", Unread: true}
		want := []Access{common, common, common, unread, unread, common}
		want[0].At, want[0].Class, want[0].Wait, want[0].Gone = 0.02, "cancelled", 0.01, true
		want[1].At, want[1].Class, want[1].Status, want[1].Attempt = 0.03, "rate", 429, 3
		want[2].Class, want[2].Status, want[2].Wait, want[2].Delivered, want[2].Stream = "ok", 200, 0.15, 5, true
		want[3].Status, want[4].Status = 400, 404
		want[5].At, want[5].Class, want[5].Status, want[5].Wait, want[5].Delivered = 1.15, "ok", 200, 0.15, 5
		require.Equal(t, want, lines, "in the order of their ends; a reset does not change the time")
		require.NotContains(t, log.String(), "sk-secret")

		trace, err := traffic.ReadTrace("access.jsonl", &log)
		require.NoError(t, err)
		var at []time.Duration
		for _, r := range trace.Rows {
			at = append(at, r.At)
			require.EqualValues(t, 5, r.Demand.OutputTokens)
		}
		require.Equal(t, []time.Duration{0, 20 * time.Millisecond, 1150 * time.Millisecond}, at, "in the order of arrival, without the retry and the invalid requests")
	})
}

// With a time scale, the Date header and all dates are on the provider's clock.
func TestTimeScale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := quick()
		p.Faults = []mockprovider.Fault{faults.Outage(time.Hour, 2*time.Hour, mockprovider.Refusal{Hint: mockprovider.Hint{Kind: mockprovider.Exact}})}
		epoch := time.Date(2030, 5, 6, 7, 8, 9, 0, time.UTC)
		s := Must(Config{Provider: p, TimeScale: 60, Epoch: epoch})
		start := time.Now()
		a := ask(t, s.Client(), chat(t.Context(), t, "http://herd", false))
		require.Equal(t, 200, a.StatusCode)
		require.Equal(t, 2500*time.Microsecond, time.Since(start), "150 ms")
		time.Sleep(time.Until(start.Add(90 * time.Second)))
		a = ask(t, s.Client(), chat(t.Context(), t, "http://herd", false))
		require.Equal(t, 503, a.StatusCode)
		wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
		require.NoError(t, err)
		require.Equal(t, 1800, wait, "seconds of the provider")
		date, err := http.ParseTime(a.Header.Get("Date"))
		require.NoError(t, err)
		require.Equal(t, epoch.Add(90*time.Minute), date)
		require.InDelta(t, 5400, s.State().Now, 1e-6)
		require.EqualValues(t, 60, s.Series().Width, "a bin is a second of real time")
		require.Len(t, s.Series().Bins, 91)
	})
}

// fullDisk accepts only one line.
type fullDisk struct{ bytes.Buffer }

func (d *fullDisk) Write(line []byte) (int, error) {
	if d.Len() > 0 {
		return 0, errors.New("no space left")
	}
	return d.Buffer.Write(line)
}

// If a line cannot be written, the error log gets the first error at once, and Serve
// returns it. Requests are answered all the same.
func TestIncompleteAccessLog(t *testing.T) {
	var disk fullDisk
	var complaints bytes.Buffer
	_, url, stop := listening(t, Config{Provider: quick(), AccessLog: &disk, ErrorLog: log.New(&complaints, "", 0)})
	for range 4 {
		require.Equal(t, 200, ask(t, client(t), chat(t.Context(), t, url, false)).StatusCode)
	}
	require.EqualError(t, stop(), "the access log is incomplete: no space left")
	require.Equal(t, "the access log is incomplete: no space left\n", complaints.String())
	require.Equal(t, 1, strings.Count(disk.String(), "\n"))
}

// Numbers in logs are rounded to microseconds.
func TestSeconds(t *testing.T) {
	text, err := json.Marshal(seconds(1_687_755_400 * time.Nanosecond))
	require.NoError(t, err)
	require.Equal(t, "1.687755", string(text))
}
