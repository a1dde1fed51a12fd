package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

func TestSlidingLog(t *testing.T) {
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{SlidingLog{Limit: 2, Length: 10 * time.Second, Terms: mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}}}, `
		@7s arrive 1 -> 1 started 0s
		@9s arrive 2 -> 2 started 0s
		@10s arrive 3 -> 3 429 rate after=7s limit=2 left=0      # no boundary here
		@16.999999999s arrive 4 -> 4 429 rate after=1ns limit=2 left=0
		@17s arrive 5 -> 5 started 0s                            # half-open
		arrive 6 -> 6 429 rate after=2s limit=2 left=0
		@19s arrive 7 -> 7 started 0s
		@40s arrive 8 -> 8 started 0s
		arrive 9 -> 9 started 0s
		arrive 10 -> 10 429 rate after=10s limit=2 left=0`)
}

// A refused request is given back or stays in the log.
func TestSlidingLogUndo(t *testing.T) {
	for keep, third := range map[bool]string{false: "started 5s", true: "429 rate limit=2 left=0"} {
		play(t, mockprovider.Config{
			Limits: []mockprovider.Limit{SlidingLog{Limit: 2, Length: time.Minute, Terms: mockprovider.Terms{Keep: keeping(keep)}}, Semaphore{Limit: 1}}, Capacity: mockprovider.Capacity{Service: takes(5 * time.Second)},
		}, `
			arrive 1 -> 1 started 5s
			@1s arrive 2 -> 2 429 concurrency limit=1 left=0
			@5s done 1 -> 1 200 ok slot=5s
			arrive 3 -> 3 `+third)
	}
}

// The log's memory follows what it lets in, and ends at the limit: one that
// could be large costs nothing until it is.
func TestSlidingLogMemory(t *testing.T) {
	size := func(limit int32, requests int) int {
		g := SlidingLog{Limit: limit, Length: time.Hour}.Gate(mockprovider.Space{}).(*slidingLog)
		for i := range requests {
			g.Take(time.Duration(i), &wire.Request{})
		}
		return len(g.keys[0].at)
	}
	require.Equal(t, 0, size(1<<31-1, 0))
	require.Equal(t, 8, size(1<<31-1, 3))
	require.LessOrEqual(t, size(1<<31-1, 1000), 2000)
	require.Equal(t, 1000, size(1000, 5000))
	require.Equal(t, 3, size(3, 5000))
}

// The ring may grow while it is wrapped around: eight fill it, three leave, and
// then more come than it holds.
func TestSlidingLogGrowsWhileWrapped(t *testing.T) {
	l := SlidingLog{Limit: 20, Length: 10}
	gate, twin := l.Gate(mockprovider.Space{}), &naiveLog{limit: 20, length: 10}
	for i, now := range []time.Duration{0, 1, 2, 3, 4, 5, 6, 7, 12, 12, 12, 12, 12, 12, 12, 13, 14, 15, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 17, 21, 22, 22, 23} {
		want := twin.room(now, 1)
		require.Equal(t, want, gate.Take(now, &wire.Request{}), "%d at %d", i, now)
		if want {
			twin.charge(now, 1)
		}
	}
	require.Equal(t, 20, len(gate.(*slidingLog).keys[0].at))
}

// What is given back as a whole leaves no trace that grows: one in flight at a
// time, refunded each, for ever.
func TestSlidingLogForgetsRefunds(t *testing.T) {
	l := SlidingLog{Limit: 100, Length: time.Hour, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.Reserved}}}
	gate := l.Gate(mockprovider.Space{}).(*slidingLog)
	r := wire.Request{Demand: wire.Demand{OutputTokens: 1}}
	first := wire.Request{Demand: wire.Demand{OutputTokens: 90}}
	require.True(t, gate.Take(0, &first))
	for i := range time.Duration(10_000) {
		require.True(t, gate.Take(i+1, &r))
		require.True(t, gate.Take(i+2, &r))
		gate.Release(i+3, &r, mockprovider.Ended{Since: i + 1})
		gate.Release(i+3, &r, mockprovider.Ended{Since: i + 2})
	}
	require.LessOrEqual(t, len(gate.keys[0].at), 16)
	require.Equal(t, int32(90), gate.Standing(10_000, &r).Used)
	// Nor where the next is always there before the last is given back.
	for i := time.Duration(20_000); i < 30_000; i++ {
		require.True(t, gate.Take(i, &r))
		if i > 20_000 {
			gate.Release(i, &r, mockprovider.Ended{Since: i - 1})
		}
	}
	require.LessOrEqual(t, len(gate.keys[0].at), 16)
	require.Equal(t, int32(91), gate.Standing(30_000, &r).Used)
}

func TestSlidingLogValidate(t *testing.T) {
	require.EqualError(t, SlidingLog{Limit: 1, Length: 1, Terms: mockprovider.Terms{Keep: mockprovider.KeepAll, Charge: mockprovider.Charge{Failed: mockprovider.Refunded}}}.Validate(),
		"sliding log: it cannot both count what it refuses and give back what it has charged; keep less, or charge for good at admission")
}

// What is counted though it is refused needs no more memory than the limit, and
// a limit that is cut for a while remembers what the whole one needs.
func TestSlidingLogThatCountsAll(t *testing.T) {
	for _, charge := range []mockprovider.Charge{{}, {Count: mockprovider.InputTokens}} {
		gate := SlidingLog{Limit: 10, Length: time.Minute, Terms: mockprovider.Terms{Keep: mockprovider.KeepAll, Charge: charge}}.Gate(mockprovider.Space{}).(*slidingLog)
		r := wire.Request{Demand: wire.Demand{InputTokens: 1}}
		n, now := 0, time.Duration(0)
		take := func() bool {
			now += time.Second
			require.LessOrEqual(t, gate.keys[0].n, 10)
			return gate.Take(now, &r)
		}
		for range 30 {
			if take() {
				n++
			}
		}
		require.Equal(t, 10, n)
		gate.Scale(now, 50)
		require.False(t, take())
		gate.Scale(now, 100)
		now += 50 * time.Second // the tenth newest has left, and with it all but nine
		require.True(t, take())
		require.False(t, gate.Take(now, &r))
	}
}

// The ring against a slice that is never compacted.
func TestChargesAgainstNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c charges
		var naive []event
		now := time.Duration(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				if c.n > 0 {
					for c.oldest() != naive[0].at {
						require.Zero(t, naive[0].n, "only what is nothing may be left out")
						naive = naive[1:]
					}
					c.dropAmount()
					naive = naive[1:]
				}
			case 1, 2:
				if len(naive) > 0 {
					e := &naive[rapid.IntRange(0, len(naive)-1).Draw(t, "which")]
					by := rapid.Int64Range(-5, 2).Draw(t, "by")
					if i, ok := c.find(e.at); ok {
						c.change(i, by)
						e.n = max(0, e.n+by)
					} else {
						require.Zero(t, e.n)
					}
				}
			default:
				now += time.Duration(rapid.IntRange(0, 2).Draw(t, "dt"))
				n := rapid.Int64Range(1, 4).Draw(t, "amount")
				if c.add(now, n); len(naive) > 0 && naive[len(naive)-1].at == now {
					naive[len(naive)-1].n += n
				} else {
					naive = append(naive, event{now, n})
				}
			}
			sum := int64(0)
			for _, e := range naive {
				sum += e.n
			}
			require.Equal(t, sum, c.total())
			require.True(t, c.n == 0 || c.amount(c.n-1) > 0, "the newest is something")
			_, ok := c.find(now + 1)
			require.False(t, ok)
		}
	})
}
