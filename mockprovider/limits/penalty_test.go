package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// More than two in a second open a block of 30 seconds.
func TestPenalty(t *testing.T) {
	p := Penalty{Limit: 2, Length: time.Second, Block: 30 * time.Second, Terms: mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{p}}, `
		arrive 1 -> 1 started 0s
		@500ms arrive 2 -> 2 started 0s
		@1s arrive 3 -> 3 started 0s                             # the second is over
		@1.5s arrive 4 -> 4 started 0s
		@1.9s arrive 5 -> 5 429 rate after=30s limit=2 left=0
		@20s arrive 6 -> 6 429 rate after=11.9s limit=2 left=0   # hammering changes nothing
		@31.899999999s arrive 7 -> 7 429 rate after=1ns limit=2 left=0
		@31.9s arrive 8 -> 8 started 0s
		arrive 9 -> 9 started 0s
		arrive 10 -> 10 429 rate after=30s limit=2 left=0`)
	p.Restarts = true
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{p}}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 started 0s
		arrive 3 -> 3 429 rate after=30s limit=2 left=0
		@29s arrive 4 -> 4 429 rate after=30s limit=2 left=0     # and it starts afresh
		@58s arrive 5 -> 5 429 rate after=30s limit=2 left=0
		@1m28s arrive 6 -> 6 started 0s`)
}

// The window that gets longer and longer, from 14:00 to the next morning
// (validation.md A14): a caller is blocked at 0 s, and each try while it is
// restarts the block. It says when the caller is let in, and on which try.
func TestWhoHammersIsNeverLetIn(t *testing.T) {
	always := func(wait time.Duration) func(int) time.Duration {
		return func(int) time.Duration { return wait }
	}
	doubling := func(most time.Duration) func(int) time.Duration {
		return func(n int) time.Duration { return min(most, time.Second<<n) }
	}
	for _, c := range []struct {
		name  string
		block time.Duration
		wait  func(retry int) time.Duration
		tries int // 0 is never, in 18 hours
		at    time.Duration
	}{
		{"every 3 s", 10 * time.Second, always(3 * time.Second), 0, 0},
		{"1, 2, 4, 8, 16 s", 10 * time.Second, doubling(64 * time.Second), 6, 31 * time.Second},
		{"every 30 s", 10 * time.Second, always(30 * time.Second), 2, 30 * time.Second},
		{"every 30 s, blocked for a minute", time.Minute, always(30 * time.Second), 0, 0},
		{"up to 64 s, blocked for a minute", time.Minute, doubling(64 * time.Second), 8, 127 * time.Second},
		{"90 s, blocked for a minute", time.Minute, always(90 * time.Second), 2, 90 * time.Second},
	} {
		p := Penalty{Limit: 1, Length: c.block, Block: c.block, Restarts: true}
		gate, r := p.Gate(mockprovider.Space{}), wire.Request{}
		require.True(t, gate.Take(0, &r))
		tries, refused, now := 0, 0, time.Duration(0)
		for now < 18*time.Hour {
			if tries++; gate.Take(now, &r) {
				break
			}
			refused++
			now += c.wait(tries - 1)
		}
		if c.tries == 0 {
			require.Equal(t, int(18*time.Hour/c.wait(0)), refused, c.name) // 21,600 every 3 s
			continue
		}
		require.Equal(t, c.tries, tries, c.name)
		require.Equal(t, c.at, now, c.name)
	}
}

func TestPenaltyValidate(t *testing.T) {
	for want, p := range map[string]Penalty{
		"penalty: the limit must be at least 1": {Length: 1, Block: 1},
		"penalty: the block must last 1s, which is the length, to " + mockprovider.Longest.String() + ", not 999ms": {Limit: 1, Length: time.Second, Block: 999 * time.Millisecond},
	} {
		require.EqualError(t, p.Validate(), want)
	}
}
