package mockprovider

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
)

func TestSlidingLog(t *testing.T) {
	play(t, Config{Limits: []Limit{SlidingLog{Limit: 2, Length: 10 * time.Second, Terms: Terms{Refusal: As429.WithHint(Hint{Kind: Exact})}}}}, `
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
		play(t, Config{
			Limits: []Limit{SlidingLog{Limit: 2, Length: time.Minute}, Semaphore{Limit: 1}}, KeepOnRefusal: keep, Capacity: Capacity{Service: takes(5 * time.Second)},
		}, `
			arrive 1 -> 1 started 5s
			@1s arrive 2 -> 2 429 concurrency limit=1 left=0
			@5s done 1 -> 1 200 ok slot=5s
			arrive 3 -> 3 `+third)
	}
}

// naiveLog remembers all times and counts those of one length.
type naiveLog struct {
	SlidingLog
	counted []time.Duration
}

func (l *naiveLog) room(now time.Duration) bool {
	n := int32(0)
	for _, t := range l.counted {
		if now-t < l.Length {
			n++
		}
	}
	return n < l.Limit
}

func (l *naiveLog) count(now time.Duration) { l.counted = append(l.counted, now) }

func TestSlidingLogAgainstNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := SlidingLog{
			Limit:  rapid.Int32Range(1, 20).Draw(t, "limit"),
			Length: time.Duration(rapid.IntRange(1, 150).Draw(t, "length")),
			Terms:  Terms{Refusal: Refusal{Hint: Hint{Kind: Exact}}},
		}
		counted := playTwins(t, l.Gate(Space{}), &naiveLog{SlidingLog: l}, true)
		require.LessOrEqual(t, most(counted, l.Length), int(l.Limit))
	})
}

// The log's memory follows what it lets in, and ends at the limit: one that
// could be large costs nothing until it is.
func TestSlidingLogMemory(t *testing.T) {
	size := func(limit int32, requests int) int {
		g := SlidingLog{Limit: limit, Length: time.Hour}.Gate(Space{}).(*slidingLog)
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
	gate, twin := l.Gate(Space{}), &naiveLog{SlidingLog: l}
	for i, now := range []time.Duration{0, 1, 2, 3, 4, 5, 6, 7, 12, 12, 12, 12, 12, 12, 12, 13, 14, 15, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 17, 21, 22, 22, 23} {
		want := twin.room(now)
		require.Equal(t, want, gate.Take(now, &wire.Request{}), "%d at %d", i, now)
		if want {
			twin.count(now)
		}
	}
	require.Equal(t, 20, len(gate.(*slidingLog).keys[0].at))
}
