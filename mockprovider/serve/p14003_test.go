package serve

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// p14003 returns the reference provider of error 14003: 210 requests in 300 s, and 20
// that started in this second or are in flight.
func p14003() mockprovider.Config {
	terms := mockprovider.Terms{Per: mockprovider.Account, Refusal: mockprovider.As14003.WithHint(mockprovider.Hint{Kind: mockprovider.Constant, Value: 3 * time.Second})}
	terms.Refusal.StatedLimit = 20
	return mockprovider.Config{
		Limits: []mockprovider.Limit{
			limits.Window{Limit: 210, Length: 300 * time.Second, Anchored: true, Terms: terms},
			limits.Joint{Limit: 20, Length: time.Second, Anchored: true, Terms: terms},
		},
		Capacity:    mockprovider.Capacity{Service: mockprovider.Service{First: draw.Const(300 * time.Millisecond)}},
		RefusalTime: 50 * time.Millisecond,
	}
}

// thread is a thread of a client over HTTP.
type thread struct {
	next  time.Duration // when it acts next
	reply chan string   // of the request in flight; nil if there is none
	left  int           // requests to begin
}

// overHTTP runs threads against p14003 over sockets with a fake clock. The clock
// advances from one action of a thread to the next, after the server has processed the
// last one. Thread i begins i·apart after the start. Each thread has its own number of
// requests, or all together have shared, if that is not 0. The result is the numbers of
// the refused requests.
func overHTTP(t *testing.T, threads, each, shared int, apart, pause time.Duration) (refused []int) {
	t.Helper()
	clock := clockwork.NewFakeClockAt(time.Unix(1_800_000_000, 0))
	s := NewTestServer(t, Config{Provider: p14003(), Clock: clock})
	start := clock.Now()
	var client http.Client
	t.Cleanup(client.CloseIdleConnections)
	all := make([]thread, threads)
	for i := range all {
		all[i] = thread{next: time.Duration(i) * apart, left: each}
	}
	number := 0
	ask := func(reply chan string) {
		r, err := http.NewRequest(http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
		if err != nil {
			panic(err)
		}
		r.Header.Set("Authorization", "Bearer one-account")
		resp, err := client.Do(r)
		if err != nil {
			reply <- err.Error()
			return
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			reply <- resp.Status
			return
		}
		reply <- string(text)
	}
	for {
		who := -1
		for i := range all {
			busy := all[i].reply != nil || all[i].left > 0 && (shared == 0 || shared > number)
			if busy && (who < 0 || all[i].next < all[who].next || all[i].next == all[who].next && all[i].reply != nil && all[who].reply == nil) {
				who = i
			}
		}
		if who < 0 {
			return refused
		}
		th := &all[who]
		clock.Advance(th.next - clock.Since(start))
		if th.reply != nil {
			var body struct {
				Code       int     `json:"code"`
				RetryAfter float64 `json:"retry_after"`
				Limit      int     `json:"limit"`
				Choices    []any   `json:"choices"`
			}
			text := <-th.reply
			require.NoError(t, json.Unmarshal([]byte(text), &body), text)
			require.Equal(t, body.Code == 0, len(body.Choices) > 0, text)
			if body.Code != 0 {
				require.Equal(t, wire.Code14003, body.Code)
				require.InDelta(t, 3, body.RetryAfter, 0)
				require.Equal(t, 20, body.Limit)
			}
			th.reply, th.next = nil, th.next+pause
			continue
		}
		th.reply = make(chan string, 1)
		number++
		th.left--
		before := s.State()
		go ask(th.reply)
		var after State
		require.Eventually(t, func() bool {
			after = s.State()
			return after.Counters.Arrivals > before.Counters.Arrivals
		}, 10*time.Second, 50*time.Microsecond)
		if after.Busy > before.Busy {
			th.next += 300 * time.Millisecond
			continue
		}
		th.next += 50 * time.Millisecond
		refused = append(refused, number)
	}
}

// The decisions of the provider over HTTP are the same as in the simulator.
func TestP14003OverHTTP(t *testing.T) {
	first := func(refused []int) int {
		require.NotEmpty(t, refused)
		require.True(t, slices.IsSorted(refused))
		return refused[0]
	}
	require.Equal(t, 211, first(overHTTP(t, 1, 215, 0, 0, 200*time.Millisecond)), "one thread that pauses 200 ms")
	require.Equal(t, 17, first(overHTTP(t, 5, 60, 0, time.Millisecond, 0)), "five without a pause")
	require.Equal(t, 211, first(overHTTP(t, 5, 60, 0, time.Millisecond, 200*time.Millisecond)), "five with a pause")
	for threads, failures := range map[int]int{1: 0, 5: 6, 10: 42, 20: 50} {
		require.Len(t, overHTTP(t, threads, 60, 60, 0, 0), failures, "%d threads", threads)
	}
}
