package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

func TestSlidingCounter(t *testing.T) {
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{SlidingCounter{Limit: 4, Length: 10 * time.Second, Terms: mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}}}, `
		@9s arrive 1 -> 1 started 0s
		arrive 2 -> 2 started 0s
		arrive 3 -> 3 started 0s
		arrive 4 -> 4 started 0s
		arrive 5 -> 5 429 rate after=3.5s limit=4 left=0         # full; at 12.5 s those four weigh three
		@10s arrive 6 -> 6 429 rate after=2.5s limit=4 left=0
		@12.499999999s arrive 7 -> 7 429 rate after=1ns limit=4 left=0
		@12.5s arrive 8 -> 8 started 0s                          # 4 × 3/4 + 1
		arrive 9 -> 9 429 rate after=2.5s limit=4 left=0
		@17.5s arrive 10 -> 10 started 0s                        # 4 × 1/4 + 2
		arrive 11 -> 11 started 0s                               # and 3
		arrive 12 -> 12 429 rate after=2.5s limit=4 left=0       # not before the next window
		@20s arrive 13 -> 13 started 0s                          # 3 × 1 + 1
		arrive 14 -> 14 429 rate after=3.333333334s limit=4 left=0
		@45s arrive 15 -> 15 started 0s                          # nobody came from 30 s to 40 s
		arrive 16 -> 16 started 0s
		arrive 17 -> 17 started 0s
		arrive 18 -> 18 started 0s
		arrive 19 -> 19 429 rate after=7.5s limit=4 left=0`)
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{SlidingCounter{Limit: 1, Length: 10 * time.Second, Terms: mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}}}, `
		@4s arrive 1 -> 1 started 0s
		arrive 2 -> 2 429 rate after=16s limit=1 left=0          # one weighs more than nothing as long as it weighs
		@20s arrive 3 -> 3 started 0s`)
}

// A burst at the end of a window, and whoever asks all the time afterwards: the
// counter lets all but twice its limit through in one length.
func TestSlidingCounterIsNotExact(t *testing.T) {
	c := SlidingCounter{Limit: 100, Length: time.Minute}
	gate, n := c.Gate(mockprovider.Space{}), 0
	for now := c.Length - 1; now < 2*c.Length-1; now += 1000_000 {
		for gate.Take(now, &wire.Request{}) {
			n++
		}
	}
	require.Equal(t, 2*100-1, n)
}
