package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDurations(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "50ms": 50 * time.Millisecond, "1m30s": 90 * time.Second, "0.5s": time.Second / 2,
		"0s": 0, "1.5h": 90 * time.Minute, "2d": 48 * time.Hour, "1d12h": 36 * time.Hour, "5min": 5 * time.Minute,
		"0.1s": 100_000_000, "0.3s": 300_000_000, // not 0.30000000000000004
		"1.000000001s": 1_000_000_001, "0.000000001s": 1, "1us": 1000, "1µs": 1000, "7ns": 7,
		"0.50000000000000000000s": time.Second / 2, "007s": 7 * time.Second, "1m0.25s": 60_250_000_000,
		"3650d": maxDuration, "0.125d": 3 * time.Hour,
		"0.0000000000125d": 1080 * time.Nanosecond, // a day is 86,400 s
	} {
		got, m := parseDuration(s)
		require.Nil(t, m, "%s: %v", s, m)
		require.Equal(t, want, got, s)
	}
}

// A duration of a message can be copied into the file.
func TestInFile(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"7m": 7 * time.Minute, "1h": time.Hour, "1h5m": 65 * time.Minute, "10s": 10 * time.Second, "0s": 0, "1m30s": 90 * time.Second, "20h0m10s": 20*time.Hour + 10*time.Second,
	} {
		require.Equal(t, want, inFile(d))
	}
	rapid.Check(t, func(rt *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(maxDuration)).Draw(rt, "d"))
		d -= d % rapid.SampledFrom([]time.Duration{1, time.Millisecond, time.Second, time.Minute, time.Hour}).Draw(rt, "of")
		if back, m := parseDuration(inFile(d)); m != nil || back != d {
			rt.Fatalf("%v is written as %s", d, inFile(d))
		}
	})
}

func TestRates(t *testing.T) {
	for s, want := range map[string]rate{
		"120/min": {120, time.Minute, 1}, "600/1m": {600, time.Minute, 1}, "20/3s": {20, 3 * time.Second, 1},
		"2.1/s": {21, 10 * time.Second, 10}, "2.10/s": {21, 10 * time.Second, 10}, "0.49/1s": {49, 100 * time.Second, 100},
		"1 / h": {1, time.Hour, 1}, "5/1m30s": {5, 90 * time.Second, 1}, "3/0.5s": {3, time.Second / 2, 1},
	} {
		got, m := parseRate(s)
		require.Nil(t, m, "%s: %v", s, m)
		require.Equal(t, want, got, s)
	}
}

// FuzzUnits checks that the two parsers do not panic and return values within
// their bounds.
func FuzzUnits(f *testing.F) {
	for _, s := range []string{"30s", "1m30s", "0.5s", "2.1/s", "20/3s", "9999999999d", "1e3s", "..s", "1/", "/s", "1.1.1/s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, m := parseDuration(s); m == nil && (d < 0 || d > maxDuration) {
			t.Errorf("%q is %v", s, d)
		}
		if r, m := parseRate(s); m == nil && (r.count < 1 || r.per < 1 || r.per > maxDuration || r.count > 2e18) {
			t.Errorf("%q is %v", s, r)
		}
	})
}
