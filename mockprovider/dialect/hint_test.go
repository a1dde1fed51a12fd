package dialect

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// TestHintsInHeaders: the meaning of each form of a hint. An invalid hint is
// absent and never causes an earlier retry.
func TestHintsInHeaders(t *testing.T) {
	const absent = wire.NoHint
	for _, c := range []struct {
		header, value string
		want          time.Duration
		dated         bool
	}{
		{"Retry-After", "60", time.Minute, false},
		{"Retry-After", " 60 ", time.Minute, false},
		{"Retry-After", "1.5", 1500 * time.Millisecond, false},
		{"Retry-After", "0", 0, false},
		{"Retry-After", "0.0000000001", 1, false},
		{"Retry-After", "Wed, 21 Oct 2026 07:28:30 GMT", 30 * time.Second, true},
		{"Retry-After", "Wednesday, 21-Oct-26 07:28:30 GMT", 30 * time.Second, true},
		{"Retry-After", "Wed Oct 21 07:28:30 2026", 30 * time.Second, true},
		{"Retry-After", "2026-10-21T07:28:30.25Z", 30*time.Second + 250*time.Millisecond, true},
		{"Retry-After", "Wed, 21 Oct 2026 07:27:00 GMT", -time.Minute, true},
		{"Retry-After", "Wed, 21 Oct 2026 07:28:30 PST", absent, false},
		{"Retry-After", "Wed, 32 Oct 2026 07:28:30 GMT", absent, false},
		{"Retry-After", "Wed, 21 Oct 10000 07:28:30 GMT", absent, false},
		{"Retry-After", "Wed, 21 Oct 9999 07:28:30 GMT", absent, false},
		{"Retry-After", "soon", absent, false},
		{"Retry-After", "-5", absent, false},
		{"Retry-After", "NaN", absent, false},
		{"Retry-After", "inf", absent, false},
		{"Retry-After", "1e3", absent, false},
		{"Retry-After", "6m0s", 6 * time.Minute, false}, // invalid but unambiguous
		{"Retry-After", "1h0m0.5s", time.Hour + 500*time.Millisecond, false},
		{"Retry-After", "300ms", 300 * time.Millisecond, false},
		{"Retry-After", "2562047h", maxWait, false},
		{"Retry-After", "2562048h", absent, false},
		{"Retry-After", "-6m0s", absent, false},
		{"Retry-After", "6 minutes", absent, false},
		{"Retry-After", "1.", absent, false},
		{"Retry-After", ".5", absent, false},
		{"Retry-After", "1743441608", 1743441608 * time.Second, false}, // a very long wait, not a Unix time
		{"Retry-After", "9223372037", maxWait, false},
		{"Retry-After", "18446744074", maxWait, false},
		{"Retry-After", "99999999999999999999999999", maxWait, false},
		{"Retry-After-Ms", "1234", 1234 * time.Millisecond, false},
		{"Retry-After-Ms", "1.5", 1500 * time.Microsecond, false},
		{"Retry-After-Ms", "-1", absent, false},
		{"X-RateLimit-Reset", "1792567710", 30 * time.Second, true},
		{"X-RateLimit-Reset", "1792567710500", 30*time.Second + 500*time.Millisecond, true},
		{"X-RateLimit-Reset", "30", 30 * time.Second, false},
		{"X-RateLimit-Reset", "never", absent, false},
		{"X-RateLimit-Reset", "99999999999999999999", absent, false},
	} {
		h := http.Header{}
		h.Set(c.header, c.value)
		d, _ := ByName("openai")
		r := d.ParseReply(&RawReply{Status: 429, Header: h.Get, Body: []byte(`{"error":{"message":"no","type":"requests","code":"rate_limit_exceeded"}}`)}, ReadContext{Epoch: epoch})
		require.Equal(t, c.want, r.Hint.Value, "%s: %s", c.header, c.value)
		require.Equal(t, c.dated, r.Hint.Spelling.Dated(), "%s: %s", c.header, c.value)
		require.Equal(t, wire.Rate, r.Shown)
	}
}

func TestHintsInBodies(t *testing.T) {
	const absent = wire.NoHint
	for body, want := range map[string]time.Duration{
		`{"code":14003,"message":"too many requests","retry_after":3,"limit":20,"remaining":0}`: 3 * time.Second,
		`{"code":14003,"retry_after":2.5}`:                                         2500 * time.Millisecond,
		`{"code":14003,"retry_after":"3"}`:                                         3 * time.Second,
		`{"code":14003,"retry_after":-3}`:                                          absent,
		`{"code":14003,"retry_after":null}`:                                        absent,
		`{"code":14003,"retry_after":1e2}`:                                         100 * time.Second,
		`{"code":14003,"retry_after":1e99}`:                                        maxWait,
		`{"code":14003,"retry_after":{"s":1}}`:                                     absent,
		`{"code":14003,"retry_after_ms":555}`:                                      555 * time.Millisecond,
		`{"error":{"message":"x","retryDelay":"34.07s"}}`:                          34070 * time.Millisecond,
		`{"error":{"message":"x","retryDelay":"900.2ms"}}`:                         900200 * time.Microsecond,
		`{"error":{"message":"x","retryDelay":"36000s"}}`:                          10 * time.Hour,
		`{"error":{"message":"x","retryDelay":"soon"}}`:                            absent,
		`{"error":{"message":"Please try again in 1.898s."}}`:                      1898 * time.Millisecond,
		`{"error":{"message":"Please try again in 6m0s."}}`:                        6 * time.Minute,
		`{"error":{"message":"Please try again in 20ms."}}`:                        20 * time.Millisecond,
		`{"error":{"message":"Please retry after 17 seconds."}}`:                   17 * time.Second,
		`{"error":{"message":"Rate limit is exceeded. Try again in 50 seconds."}}`: 50 * time.Second,
		`{"error":{"message":"please try again after 1 seconds"}}`:                 time.Second,
		`{"error":{"message":"Please retry in 1h2m3.5s."}}`:                        time.Hour + 2*time.Minute + 3500*time.Millisecond,
		`{"error":{"message":"Try again in a few minutes. Or retry in 5 min"}}`:    5 * time.Minute,
		`{"error":{"message":"Please try again in 9999999999999999999 days."}}`:    maxWait,
		`{"error":{"message":"Please try again in -5s."}}`:                         absent,
		`{"error":{"message":"Please try again in 5."}}`:                           absent,
	} {
		d, _ := ByName("codybuddy")
		r := d.ParseReply(&RawReply{Status: 200, Body: []byte(body)}, ReadContext{})
		require.Equal(t, want, r.Hint.Value, body)
	}
}

func TestDecimal(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0", 1: "0.000000001", time.Second: "1", 1500 * time.Millisecond: "1.5", 1020 * time.Millisecond: "1.02"} {
		require.Equal(t, want, decimal(d, time.Second))
		back, ok := parseDecimal(want, time.Second)
		require.True(t, ok)
		require.Equal(t, d, back)
	}
}
