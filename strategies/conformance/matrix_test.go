package conformance

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// wait is the range of a wait.
type wait struct{ low, high time.Duration }

const ms = time.Millisecond

func exactly(d time.Duration) wait { return wait{d, d} }

var (
	// twice is two retries with the backoff of both SDKs without a hint: min(0.5·2ⁿ, 8) s
	// minus a random part below a quarter.
	first, second = wait{375 * ms, 500 * ms}, wait{750 * ms, 1000 * ms}
	twice         = []wait{first, second}
	once          = []wait(nil)
)

func both(w wait) []wait { return []wait{w, w} }

// verdict is the behaviour of a library: the waits between its attempts, and whether it
// reports success.
type verdict struct {
	waits []wait
	ok    bool
}

// matrix is the behaviour of the SDKs with a server that always answers the same. A column
// with one verdict is for both SDKs.
var matrix = []struct {
	server   string
	answer   answer
	verdicts map[string]verdict
}{
	{"429 without a hint", answer{status: 429}, all(verdict{twice, false})},
	{"503", answer{status: 503}, all(verdict{twice, false})},
	{"529", answer{status: 529}, all(verdict{twice, false})},
	{"500", answer{status: 500}, all(verdict{twice, false})},
	{"408", answer{status: 408}, all(verdict{twice, false})},
	{"409", answer{status: 409}, all(verdict{twice, false})},
	{"401", answer{status: 401}, all(verdict{once, false})},
	{"400", answer{status: 400}, all(verdict{once, false})},
	{"498", answer{status: 498}, all(verdict{once, false})},
	{"Retry-After: 3", answer{status: 429, header: "Retry-After: 3"}, all(verdict{both(exactly(3 * time.Second)), false})},
	{"Retry-After: 90", answer{status: 429, header: "Retry-After: 90"}, all(verdict{both(exactly(90 * time.Second)), false})},
	{"Retry-After: 0", answer{status: 429, header: "Retry-After: 0"}, all(verdict{both(exactly(0)), false})},
	{"Retry-After: 121", answer{status: 429, header: "Retry-After: 121"}, map[string]verdict{
		"openai-go":    {once, false}, // the hint is longer than 120 s, so it does not retry
		"anthropic-go": {both(exactly(121 * time.Second)), false},
	}},
	{"retry-after-ms: 300 beside Retry-After: 5", answer{status: 429, header: "retry-after-ms: 300\nRetry-After: 5"}, all(verdict{both(exactly(300 * ms)), false})},
	{"Retry-After: a date, a minute on", answer{status: 429, header: "Retry-After: Sat, 01 Jan 2000 00:01:00 GMT"}, all(verdict{[]wait{exactly(time.Minute), exactly(0)}, false})},
	{"x-should-retry: false", answer{status: 429, header: "x-should-retry: false"}, all(verdict{once, false})},
	{"400 with x-should-retry: true", answer{status: 400, header: "x-should-retry: true"}, all(verdict{twice, false})},
	{"200 around 14003", answer{status: 200, body: `{"code":14003,"message":"too many requests","retry_after":3,"limit":20,"remaining":0}`}, all(verdict{once, true})},
	{"a connection that breaks before the answer", answer{reset: true}, all(verdict{twice, false})},
	{"an insufficient quota behind 429", answer{status: 429, body: `{"error":{"message":"Credit balance is used up","type":"insufficient_quota","param":null,"code":"credit_balance_exhausted"}}`}, all(verdict{twice, false})},
}

func all(v verdict) map[string]verdict {
	return map[string]verdict{"openai-go": v, "anthropic-go": v}
}

// play runs a client in virtual time, which begins at midnight, 1 January 2000, against a
// server, and compares its behaviour with the expected one.
func play(t *testing.T, call func(*server) error, want verdict, script ...answer) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script...)
		err := call(s)
		waits := s.waits()
		require.Len(t, waits, len(want.waits), "waits: %v", waits)
		for i, w := range want.waits {
			require.GreaterOrEqual(t, waits[i], w.low, "wait %d", i+1)
			require.LessOrEqual(t, waits[i], w.high, "wait %d", i+1)
		}
		require.Equal(t, want.ok, err == nil, "error: %v", err)
		require.Zero(t, s.open, "bodies left open")
	})
}

func TestMatrix(t *testing.T) {
	for _, row := range matrix {
		for _, sdk := range sdks {
			t.Run(row.server+"/"+sdk.name, func(t *testing.T) {
				play(t, func(s *server) error { return sdk.call(context.Background(), s) }, row.verdicts[sdk.name], row.answer)
			})
		}
	}
}

// The SDKs differ in truncated bodies and streams, and neither detects a stream without a
// finish marker.
func TestBrokenBodies(t *testing.T) {
	sse := "Content-Type: text/event-stream"
	for _, sdk := range sdks {
		cut := verdict{once, false}
		if sdk.name == "anthropic-go" {
			cut.waits = twice
		}
		t.Run(sdk.name, func(t *testing.T) {
			call := func(s *server) error { return sdk.call(context.Background(), s) }
			stream := func(s *server) error { return sdk.stream(context.Background(), s) }
			t.Run("good", func(t *testing.T) { play(t, call, verdict{once, true}, answer{status: 200, body: sdk.good}) })
			t.Run("cut", func(t *testing.T) { play(t, call, cut, answer{status: 200, body: sdk.good, cut: true}) })
			t.Run("not JSON", func(t *testing.T) {
				play(t, call, verdict{once, false}, answer{status: 200, body: "{\"id\":"})
			})
			t.Run("good after two refusals", func(t *testing.T) {
				play(t, call, verdict{twice, true}, answer{status: 529}, answer{status: 503}, answer{status: 200, body: sdk.good})
			})
			t.Run("good stream", func(t *testing.T) {
				play(t, stream, verdict{once, true}, answer{status: 200, header: sse, body: sdk.goodStream})
			})
			t.Run("error in the stream", func(t *testing.T) {
				play(t, stream, verdict{once, false}, answer{status: 200, header: sse, body: sdk.failing})
			})
			t.Run("silent end", func(t *testing.T) {
				play(t, stream, verdict{once, true}, answer{status: 200, header: sse, body: sdk.silent})
			})
			t.Run("14003 to a stream", func(t *testing.T) {
				play(t, stream, verdict{once, true}, answer{status: 200, body: `{"code":14003,"message":"too many requests","retry_after":3,"limit":20,"remaining":0}`})
			})
		})
	}
}
