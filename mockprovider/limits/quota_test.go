package limits

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// Three a day, renewed at seven in the morning of a run that begins at midnight.
func TestQuota(t *testing.T) {
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{Quota{Limit: 3, Every: 24 * time.Hour, At: 7 * time.Hour, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{Hint: mockprovider.Hint{Kind: mockprovider.Exact}}}}}}, `
		@1h arrive 1 -> 1 started 0s
		@5h arrive 2 -> 2 started 0s
		@6h arrive 3 -> 3 started 0s
		@6h59m59s arrive 4 -> 4 429 quota after=1s limit=3 left=0
		@7h arrive 5 -> 5 started 0s
		arrive 6 -> 6 started 0s
		@30h arrive 7 -> 7 started 0s
		arrive 8 -> 8 429 quota after=1h0m0s limit=3 left=0
		@31h arrive 9 -> 9 started 0s`)
	require.False(t, wire.Quota.Transient())
}

// A balance is spent once, whatever the time.
func TestBalance(t *testing.T) {
	q := Quota{Limit: 100, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.AllTokens, When: mockprovider.Reserved}}}
	require.NoError(t, q.Validate())
	require.Equal(t, mockprovider.Bound{}, q.Bound(mockprovider.Load{MeanOutput: 1}))
	gate := q.Gate(mockprovider.Space{})
	r := wire.Request{Demand: wire.Demand{InputTokens: 10, OutputTokens: 10, MaxTokens: 40}}
	n := 0
	for _, now := range []time.Duration{0, time.Hour, 1e5 * time.Hour, 2e5 * time.Hour, 2e6 * time.Hour, math.MaxInt64 - 1} {
		if gate.Take(now, &r) {
			gate.Release(now, &r, mockprovider.Ended{Since: now, Tokens: 10})
			n++
		}
	}
	require.Equal(t, 3, n, "3 × 20 leave less than 50")
}

func TestQuotaValidate(t *testing.T) {
	for want, q := range map[string]Quota{
		"quota: the limit must be at least 1": {Every: 1},
		"quota: it must be renewed every 1ns to " + mockprovider.Longest.String() + ", or 0 for never, not -1ns": {Limit: 1, Every: -1},
		"quota: the first renewal must be at 0 to below 24h0m0s, not at 24h0m0s":                                 {Limit: 1, Every: 24 * time.Hour, At: 24 * time.Hour},
		"quota: the first renewal must be at 0 to below 0s, not at 1s":                                           {Limit: 1, At: time.Second},
	} {
		require.EqualError(t, q.Validate(), want)
	}
}
