package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// One each 2 s, and up to 3 s too early: a tolerance between one interval and
// two lets two come at once and a third a second later.
func TestGCRA(t *testing.T) {
	g := GCRA{Interval: 2 * time.Second, Tolerance: 3 * time.Second, Terms: mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{g}}, `
		@5s arrive 1 -> 1 started 0s
		arrive 2 -> 2 started 0s                          # due at 7 s
		arrive 3 -> 3 429 rate after=1s limit=2 left=0    # due at 9 s
		@6s arrive 4 -> 4 started 0s
		@7.999999999s arrive 5 -> 5 429 rate after=1ns limit=2 left=0
		@8s arrive 6 -> 6 started 0s                      # and so on each interval
		@10s arrive 7 -> 7 started 0s
		@20s arrive 8 -> 8 started 0s                     # late makes nothing good
		arrive 9 -> 9 started 0s
		arrive 10 -> 10 429 rate after=1s limit=2 left=0`)
}

// The token bucket, the leaky bucket as a meter and GCRA are one rule with
// three names: with the same parameters they decide alike, and hint alike.
func TestThreeNamesOfOneRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		burst, interval := smallLimit(t), smallLength(t)
		hint := mockprovider.Terms{Refusal: mockprovider.Refusal{Hint: mockprovider.Hint{Kind: mockprovider.Exact}}}
		gates := []mockprovider.Gate{
			TokenBucket{Limit: 1, Length: interval, Burst: burst, Terms: hint}.Gate(mockprovider.Space{}),
			LeakyBucket{Limit: 1, Length: interval, Size: burst, Terms: hint}.Gate(mockprovider.Space{}),
			GCRA{Interval: interval, Tolerance: time.Duration(burst-1) * interval, Terms: hint}.Gate(mockprovider.Space{}),
		}
		now := time.Duration(0)
		for range 60 {
			now += time.Duration(rapid.IntRange(0, 20).Draw(t, "dt"))
			var ok [3]bool
			var verdicts [3]mockprovider.Verdict
			for i, g := range gates {
				if ok[i] = g.Take(now, &wire.Request{}); !ok[i] {
					verdicts[i] = g.Refuse(now, &wire.Request{})
					verdicts[i].Limit = 0 // they state their own parameter
				}
			}
			require.Equal(t, ok[0], ok[1])
			require.Equal(t, ok[0], ok[2])
			require.Equal(t, verdicts[0], verdicts[1])
			require.Equal(t, verdicts[0], verdicts[2])
		}
	})
}

func TestGCRAValidate(t *testing.T) {
	for want, g := range map[string]GCRA{
		"gcra: the interval must be 1ns to " + mockprovider.Longest.String() + ", not 0s":                                    {},
		"gcra: the tolerance must be 0 to " + (mockprovider.Longest - 1).String() + ", not -1ns":                             {Interval: 1, Tolerance: -1},
		"gcra: the tolerance must be 0 to " + (mockprovider.Longest - 2).String() + ", not " + mockprovider.Longest.String(): {Interval: 2, Tolerance: mockprovider.Longest},
	} {
		require.EqualError(t, g.Validate(), want)
	}
	require.EqualError(t, LeakyBucket{Limit: 1, Length: 1}.Validate(), "leaky bucket: the size must be at least 1")
	require.EqualError(t, LeakyBucket{Size: 1, Length: 1}.Validate(), "leaky bucket: the limit must be at least 1")
	// The ends of what is fine.
	for _, g := range []GCRA{{Interval: mockprovider.Longest}, {Interval: 1, Tolerance: mockprovider.Longest - 1}} {
		require.NoError(t, g.Validate())
		gate := g.Gate(mockprovider.Space{})
		require.True(t, gate.Take(0, &wire.Request{}))
		require.Equal(t, g.Tolerance > 0, gate.Take(0, &wire.Request{}))
		require.True(t, gate.Take(mockprovider.Forever-1, &wire.Request{}))
	}
}
