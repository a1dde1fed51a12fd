package limits

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/providertest"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

func TestJoint(t *testing.T) {
	four := func(anchored bool, service time.Duration) mockprovider.Config {
		return mockprovider.Config{Limits: []mockprovider.Limit{Joint{Limit: 4, Length: 10 * time.Second, Anchored: anchored}}, Capacity: mockprovider.Capacity{Service: takes(service)}}
	}
	t.Run("a burst is counted twice", func(t *testing.T) {
		play(t, four(true, 2*time.Second), `
			@1s arrive 1 -> 1 started 2s
			arrive 2 -> 2 started 2s
			arrive 3 -> 3 429 concurrency limit=4 left=0     # 2 started + 2 in flight
			@3s done 1 -> 1 200 ok slot=2s
			arrive 3 -> 3 started 2s                         # 2 + 1
			arrive 4 -> 4 429 concurrency limit=4 left=0     # 3 + 2
			done 2 -> 2 200 ok slot=2s
			arrive 4 -> 4 429 concurrency limit=4 left=0     # 3 + 1
			@5s done 3 -> 3 200 ok slot=2s
			arrive 4 -> 4 started 2s                         # 3 + 0
			@7s done 4 -> 4 200 ok slot=2s
			arrive 5 -> 5 429 rate limit=4 left=0            # 4 + 0: the window alone is full
			@10.999999999s arrive 5 -> 5 429 rate limit=4 left=0
			@11s arrive 5 -> 5 started 2s`)
	})
	t.Run("what is in flight outlives its window", func(t *testing.T) {
		play(t, four(false, time.Minute), `
			@9s arrive 1 -> 1 started 1m0s
			arrive 2 -> 2 started 1m0s
			arrive 3 -> 3 429 concurrency limit=4 left=0
			@10s arrive 3 -> 3 started 1m0s                  # 0 + 2
			arrive 4 -> 4 429 concurrency limit=4 left=0     # 1 + 3
			@20s arrive 4 -> 4 started 1m0s                  # 0 + 3
			@30s arrive 5 -> 5 429 concurrency limit=4 left=0 # 0 + 4: no window helps
			@69s done 1 -> 1 200 ok slot=1m0s
			arrive 5 -> 5 started 1m0s`)
	})
	t.Run("a refusal begins no window", func(t *testing.T) {
		cfg := four(true, 30*time.Second)
		cfg.Limits[0] = Joint{Limit: 1, Length: 10 * time.Second, Anchored: true}
		play(t, cfg, `
			arrive 1 -> 1 started 30s
			@29s arrive 2 -> 2 429 concurrency limit=1 left=0
			@30s done 1 -> 1 200 ok slot=30s
			@38s arrive 2 -> 2 started 30s
			@68s done 2 -> 2 200 ok slot=30s
			arrive 3 -> 3 started 30s`)
	})
	t.Run("each account by itself", func(t *testing.T) {
		play(t, mockprovider.Config{Space: mockprovider.Space{Accounts: 2}, Limits: []mockprovider.Limit{Joint{Limit: 2, Length: time.Second, Terms: mockprovider.Terms{Per: mockprovider.Account}}}}, `
			arrive 1 account=0 -> 1 started 0s
			arrive 2 account=0 -> 2 429 concurrency limit=2 left=0
			arrive 3 account=1 -> 3 started 0s`)
	})
	t.Run("knows no time to come back", func(t *testing.T) {
		for _, k := range []mockprovider.HintKind{mockprovider.NoHint, mockprovider.Exact, mockprovider.RoundedUp, mockprovider.RoundedDown} {
			play(t, mockprovider.Config{Limits: []mockprovider.Limit{Joint{Limit: 1, Length: time.Second, Terms: mockprovider.Terms{Refusal: mockprovider.As14003.WithHint(mockprovider.Hint{Kind: k})}}}}, `
				arrive 1 -> 1 started 0s
				arrive 2 -> 2 200 rate code=14003 limit=1 left=0`)
		}
		play(t, mockprovider.Config{Limits: []mockprovider.Limit{Joint{Limit: 1, Length: time.Second, Terms: mockprovider.Terms{Refusal: mockprovider.As14003.WithHint(mockprovider.Hint{Kind: mockprovider.Constant, Value: 3 * time.Second})}}}}, `
			arrive 1 -> 1 started 0s
			arrive 2 -> 2 200 rate code=14003 after=3s limit=1 left=0`)
	})
	t.Run("what a later gate refuses", func(t *testing.T) {
		for keep, fifth := range map[bool]string{false: "started 5s", true: "429 rate limit=4 left=0"} {
			play(t, mockprovider.Config{
				Limits: []mockprovider.Limit{Joint{Limit: 4, Length: time.Minute, Terms: mockprovider.Terms{Keep: keeping(keep)}}, Semaphore{Limit: 1}}, Capacity: mockprovider.Capacity{Service: takes(5 * time.Second)},
			}, `
				arrive 1 -> 1 started 5s
				arrive 2 -> 2 429 concurrency limit=1 left=0     # stays started, if kept, and is not in flight
				arrive 3 -> 3 429 concurrency limit=1 left=0     # and so does the third
				@5s done 1 -> 1 200 ok slot=5s
				arrive 4 -> 4 started 5s                         # 1 + 0, or 3 + 0
				@10s done 4 -> 4 200 ok slot=5s
				arrive 5 -> 5 `+fifth)
		}
	})
}

// The largest numbers neither overflow nor hang.
func TestJointAtTheEndsOfNumbers(t *testing.T) {
	for _, anchored := range []bool{false, true} {
		p, err := mockprovider.New(mockprovider.Config{Limits: []mockprovider.Limit{Joint{Limit: math.MaxInt32, Length: math.MaxInt64, Anchored: anchored}}}, draw.New(1))
		require.NoError(t, err)
		require.Equal(t, 3, providertest.Arrivals(t, p, time.Second, time.Hour, 2562047*time.Hour))
	}
	j := Joint{Limit: math.MaxInt32, Length: 1}.Gate(mockprovider.Space{}).(*joint)
	j.keys[0] = jointKey{windowKey{end: 10, used: math.MaxInt32 - 1}, math.MaxInt32}
	require.False(t, j.Take(5, &wire.Request{}), "the sum is more than an int32 holds")
}

// A window never sees more than the limit start, and no instant has more in
// flight; what is undone might as well not have come.
func TestJointLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Joint{
			Limit:    rapid.Int32Range(1, 8).Draw(t, "limit"),
			Length:   time.Duration(rapid.IntRange(1, 30).Draw(t, "length")),
			Anchored: rapid.Bool().Draw(t, "anchored"),
		}
		gate, quiet := l.Gate(mockprovider.Space{}), l.Gate(mockprovider.Space{})
		twin := naiveWindow{length: l.Length, anchored: l.Anchored}
		now, inFlight := time.Duration(0), int64(0)
		var r wire.Request
		for range rapid.IntRange(20, 80).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 12).Draw(t, "dt"))
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				if inFlight > 0 {
					inFlight--
					gate.Release(now, &r, mockprovider.Ended{})
					quiet.Release(now, &r, mockprovider.Ended{})
				}
			case 1:
				if gate.Take(now, &r) {
					gate.Undo(now, &r)
				}
			default:
				want := twin.used(now)+inFlight < int64(l.Limit)
				require.Equal(t, want, gate.Take(now, &r), "at %d", now)
				require.Equal(t, want, quiet.Take(now, &r), "undisturbed, at %d", now)
				if want {
					twin.charge(now, 1)
					inFlight++
				}
				require.LessOrEqual(t, twin.used(now), int64(l.Limit))
				require.LessOrEqual(t, inFlight, int64(l.Limit))
			}
		}
	})
}
