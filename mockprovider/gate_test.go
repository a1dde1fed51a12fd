package mockprovider

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// naive is the twin of a gate that is too simple to be wrong: it remembers every
// request that it has counted.
type naive interface {
	room(now time.Duration) bool
	count(now time.Duration)
}

// playTwins plays requests to a gate and to its twin: some are let in, some are
// taken back, some are kept though a later gate refused. It returns when those
// were that count.
func playTwins(t *rapid.T, gate Gate, twin naive, foresees bool) (counted []time.Duration) {
	now := time.Duration(rapid.IntRange(0, 100).Draw(t, "begin"))
	var r wire.Request
	for range rapid.IntRange(20, 80).Draw(t, "requests") {
		now += time.Duration(rapid.IntRange(0, 15).Draw(t, "dt"))
		want := twin.room(now)
		require.Equal(t, want, gate.Take(now, &r), "at %d", now)
		if want {
			switch rapid.IntRange(0, 5).Draw(t, "fate") {
			case 0:
				gate.Undo(now, &r, false)
				continue
			case 1:
				gate.Undo(now, &r, true)
			}
			twin.count(now)
			counted = append(counted, now)
			continue
		}
		var reply wire.Reply
		gate.Refuse(now, &r, &reply)
		require.Equal(t, wire.Rate, reply.Class)
		require.Zero(t, reply.Remaining)
		if foresees { // it says the first instant at which there is room
			require.Positive(t, reply.RetryAfter)
			require.True(t, twin.room(now+reply.RetryAfter), "at %d: not in %d", now, reply.RetryAfter)
			for d := range reply.RetryAfter {
				require.False(t, twin.room(now+d), "at %d: in %d already", now, d)
			}
		}
	}
	return counted
}

// most is the largest number of times in any half-open interval of that length.
func most(times []time.Duration, length time.Duration) (n int) {
	for i, from := range times {
		k := i
		for k < len(times) && times[k]-from < length {
			k++
		}
		n = max(n, k-i)
	}
	return n
}

// counting are the limits that count requests in time, each of l in w; the
// bucket holds as many as come in w.
func counting(l int32, w time.Duration, hint Hint) []Limit {
	r := Refusal{Hint: hint}
	return []Limit{
		Window{Limit: l, Length: w, Terms: Terms{Refusal: r}},
		Window{Limit: l, Length: w, Anchored: true, Terms: Terms{Refusal: r}},
		SlidingLog{Limit: l, Length: w, Terms: Terms{Refusal: r}},
		SlidingCounter{Limit: l, Length: w, Terms: Terms{Refusal: r}},
		TokenBucket{Limit: l, Length: w, Burst: l, Terms: Terms{Refusal: r}},
	}
}

// Around the tick of a minute, 200 requests in its last second and 200 in the
// first of the next meet a limit of 120 a minute.
func TestBoundaryBurst(t *testing.T) {
	burst := append(evenly(200, 59*time.Second, 60*time.Second), evenly(200, 60*time.Second, 61*time.Second)...)
	// A bucket of 120 gets 2 more tokens a second: until 61 s, three have come.
	for i, want := range []int{240, 120, 120, 121, 123} {
		limit := counting(120, time.Minute, Hint{})[i]
		p, err := New(Config{Limits: []Limit{limit}}, draw.New(1))
		require.NoError(t, err)
		require.Equal(t, want, arrivals(t, p, burst...), "%#v", limit)
	}
}

// Who asks at every instant gets what Bound says: in k times Per, that much k
// times, and once what a limit lets through in the beginning.
func TestBoundIsWhatPasses(t *testing.T) {
	const k = 50
	for _, l := range []int32{1, 2, 3, 7, 60} {
		for _, limit := range counting(l, 420, Hint{}) {
			b := limit.Bound(Load{})
			gate, n := limit.Gate(Space{}), int64(0)
			for now := range k * b.Per {
				if gate.Take(now, &wire.Request{}) {
					n++
				}
			}
			name := fmt.Sprintf("%#v", limit)
			require.GreaterOrEqual(t, n, k*b.Count, name)
			require.LessOrEqual(t, n, k*b.Count+int64(l), name)
		}
	}
}

func TestCountingLimitsOfAccounts(t *testing.T) {
	for _, limit := range []Limit{
		SlidingLog{Limit: 2, Length: time.Second, Terms: Terms{Per: Account}},
		SlidingCounter{Limit: 2, Length: time.Second, Terms: Terms{Per: Account}},
		TokenBucket{Limit: 2, Length: time.Second, Burst: 2, Terms: Terms{Per: Account}},
	} {
		play(t, Config{Space: Space{Accounts: 2}, Limits: []Limit{limit}}, `
			arrive 1 account=0 -> 1 started 0s
			arrive 2 account=0 -> 2 started 0s
			arrive 3 account=0 -> 3 429 rate limit=2 left=0
			arrive 4 account=1 -> 4 started 0s`)
		require.Equal(t, 5*limit.Bound(Load{}).PerSecond(), limit.Bound(Load{Space: Space{Accounts: 5}}).PerSecond())
	}
}

// The largest numbers neither overflow nor hang: the largest limit refuses
// nobody, and one of 1 in all of time everybody but the first.
func TestCountingLimitsAtTheEndsOfNumbers(t *testing.T) {
	at := []time.Duration{0, time.Second, time.Hour, math.MaxInt64 - 2, math.MaxInt64 - 1}
	for l, want := range map[int32]int{1: 1, math.MaxInt32: len(at)} {
		for _, limit := range counting(l, math.MaxInt64, Hint{Kind: Exact})[:4] { // a bucket has ends of its own
			p, err := New(Config{Limits: []Limit{limit}}, draw.New(1))
			require.NoError(t, err)
			require.Equal(t, want, arrivals(t, p, at...), "%#v", limit)
		}
	}
}

// gated is a provider with one of each limit that counts in time.
func gated(tb testing.TB, limit int32) *Provider {
	p, err := New(Config{Limits: append(counting(limit, time.Second, Hint{Kind: Exact}), Joint{Limit: limit, Length: time.Second})}, draw.New(1))
	require.NoError(tb, err)
	return p
}

// No gate allocates once it has seen its largest crowd, be it that it lets a
// request in or refuses it.
func TestGatesDoNotAllocate(t *testing.T) {
	p, in, out := gated(t, 1000), &wire.Input{}, make([]wire.Effect, 0, 4)
	now := time.Duration(0)
	for range 2000 {
		now += 2 * time.Millisecond
		out = serve(p, now, in, out)
	}
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		now += 2 * time.Millisecond
		out = serve(p, now, in, out)
	}))
	refusing := gated(t, 1)
	out = serve(refusing, 0, in, out)
	in.Kind = wire.Arrive
	require.Zero(t, testing.AllocsPerRun(1000, func() { out = refusing.Step(0, in, out[:0]) }))
	require.Equal(t, wire.Replied, out[0].Kind)
}

// BenchmarkGate measures each gate alone: what it lets in and releases, and
// what it refuses.
func BenchmarkGate(b *testing.B) {
	limits := append(counting(1000, time.Second, Hint{Kind: Exact}), Joint{Limit: 1000, Length: time.Second}, Semaphore{Limit: 1000})
	for i, name := range []string{"window", "window anchored", "log", "counter", "bucket", "joint", "semaphore"} {
		for _, gap := range []time.Duration{2 * time.Millisecond, time.Microsecond} {
			b.Run(fmt.Sprintf("%s/every %v", name, gap), func(b *testing.B) {
				gate, now := limits[i].Gate(Space{}), time.Duration(0)
				var r wire.Request
				var reply wire.Reply
				b.ReportAllocs()
				for b.Loop() {
					if now += gap; gate.Take(now, &r) {
						gate.Release(now, &r, Ended{})
					} else {
						gate.Refuse(now, &r, &reply)
					}
				}
			})
		}
	}
}
