package limits

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

func TestTokenBucket(t *testing.T) {
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{TokenBucket{Limit: 3, Length: 10 * time.Second, Burst: 2, Terms: mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}}}, `
		@7s arrive 1 -> 1 started 0s
		arrive 2 -> 2 started 0s
		arrive 3 -> 3 429 rate after=3.333333334s limit=3 left=0
		@9s arrive 4 -> 4 429 rate after=1.333333334s limit=3 left=0  # refusals take nothing
		@10.333333333s arrive 5 -> 5 429 rate after=1ns limit=3 left=0
		@10.333333334s arrive 6 -> 6 started 0s
		@13.666666667s arrive 7 -> 7 started 0s                       # thirds are not lost: 20/3 s after 7 s
		arrive 8 -> 8 429 rate after=3.333333333s limit=3 left=0
		@1h0m0s arrive 9 -> 9 started 0s                              # no more than two are kept
		arrive 10 -> 10 started 0s
		arrive 11 -> 11 429 rate after=3.333333334s limit=3 left=0`)
}

// A refused request gets its token back, or not.
func TestTokenBucketUndo(t *testing.T) {
	for keep, third := range map[bool]string{false: "started 5s", true: "429 rate limit=1 left=0"} {
		play(t, mockprovider.Config{
			Limits: []mockprovider.Limit{TokenBucket{Limit: 1, Length: time.Hour, Burst: 2, Terms: mockprovider.Terms{Keep: keeping(keep)}}, Semaphore{Limit: 1}}, Capacity: mockprovider.Capacity{Service: takes(5 * time.Second)},
		}, `
			arrive 1 -> 1 started 5s
			@1s arrive 2 -> 2 429 concurrency limit=1 left=0
			@5s done 1 -> 1 200 ok slot=5s
			arrive 3 -> 3 `+third)
	}
}

func TestTokenBucketValidate(t *testing.T) {
	for want, b := range map[string]TokenBucket{
		"token bucket: the limit must be at least 1": {Length: 1, Burst: 1},
		"token bucket: the length must be positive":  {Limit: 1, Burst: 1},
		"token bucket: the burst must be at least 1": {Limit: 1, Length: 1},
		"token bucket: a burst of 2147483647 at 7 per 24h0m0s is too large to count; take a smaller burst or a rounder rate": {
			Limit: 7, Length: 24 * time.Hour, Burst: math.MaxInt32},
	} {
		require.EqualError(t, b.Validate(), want)
	}
	// What is fine to count is counted to the last unit.
	b := TokenBucket{Limit: 1, Length: mockprovider.Longest, Burst: 1, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{Hint: mockprovider.Hint{Kind: mockprovider.Exact}}}}
	require.NoError(t, b.Validate())
	gate := b.Gate(mockprovider.Space{})
	require.True(t, gate.Take(0, &wire.Request{}))
	require.False(t, gate.Take(mockprovider.Longest-1, &wire.Request{}))
	require.Equal(t, mockprovider.AdmittedAfter(1), gate.Refuse(mockprovider.Longest-1, &wire.Request{}).Admission)
	require.True(t, gate.Take(mockprovider.Longest, &wire.Request{}))
	require.True(t, gate.Take(math.MaxInt64, &wire.Request{}))
}
