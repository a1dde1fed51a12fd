package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// The provider's clock is set ahead by 50 s in the tenth second of a window of a
// minute, so that the next begins; and back again in the fortieth of that one.
func TestSkew(t *testing.T) {
	exact := func(s wire.Spelling) mockprovider.Terms {
		return mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact}).WithSpelling(s)}
	}
	skewed := []mockprovider.Fault{{From: 10 * time.Second, To: 50 * time.Second, Does: Skew{Ahead: 50 * time.Second}}}
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Minute, Terms: exact(wire.BodySeconds)}}, Faults: skewed}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 429 rate after=1m0s limit=1 left=0
		@10s arrive 3 -> 3 started 0s
		@20s arrive 4 -> 4 429 rate after=50s limit=1 left=0     # at 70 s, the clock shows two minutes
		@50s arrive 5 -> 5 started 0s                           # the first minute again
		arrive 6 -> 6 429 rate after=10s limit=1 left=0
		@60s arrive 7 -> 7 started 0s`)
	// Dates are on that clock, and so are the times of resets.
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Minute, Terms: exact(wire.HeaderDate)}}, Faults: skewed}, `
		@10.5s arrive 1 -> 1 started 0s
		arrive 2 -> 2 429 rate after=2m0s limit=1 left=0
		@55s arrive 3 -> 3 started 0s
		arrive 4 -> 4 429 rate after=1m0s limit=1 left=0`)
	// What is not aligned to the clock does not care.
	for _, l := range []mockprovider.Limit{
		limits.Window{Limit: 1, Length: time.Minute, Anchored: true, Terms: exact(wire.BodySeconds)}, limits.SlidingLog{Limit: 1, Length: time.Minute, Terms: exact(wire.BodySeconds)},
	} {
		play(t, mockprovider.Config{Limits: []mockprovider.Limit{l}, Faults: skewed}, `
			arrive 1 -> 1 started 0s
			@10s arrive 2 -> 2 429 rate after=50s limit=1 left=0
			@50s arrive 3 -> 3 429 rate after=10s limit=1 left=0
			@60s arrive 4 -> 4 started 0s`)
	}
	// Windows that limits are made of go by the clock as well.
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{limits.Only{Limit: limits.Sliced{Limit: 2, Length: time.Minute, Slices: 2, Terms: exact(wire.BodySeconds)}}}, Faults: skewed}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 429 rate after=30s limit=2 left=1
		@10s arrive 3 -> 3 started 0s
		arrive 4 -> 4 429 rate after=30s limit=2 left=1`)
	// Growth is measured from minute to minute of the clock.
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{limits.Ramp{Base: 1, Length: time.Minute, Growth: 100, Terms: exact(wire.BodySeconds)}}, Faults: skewed}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 429 acceleration after=1m0s limit=1 left=0
		@10s arrive 3 -> 3 started 0s
		arrive 4 -> 4 started 0s
		arrive 5 -> 5 429 acceleration after=1m0s limit=2 left=0`)
	// Two of them add up: at 20 s the clock is 30 s ahead.
	play(t, mockprovider.Config{
		Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Minute, Terms: exact(wire.BodySeconds)}},
		Faults: append(skewed[:1:1], mockprovider.Fault{From: 20 * time.Second, To: 50 * time.Second, Does: Skew{Ahead: -20 * time.Second}}),
	}, `
		@10s arrive 1 -> 1 started 0s
		arrive 2 -> 2 429 rate after=1m0s limit=1 left=0
		@20s arrive 3 -> 3 started 0s
		arrive 4 -> 4 429 rate after=10s limit=1 left=0`)
	// A little skew leaves everybody in his window.
	play(t, mockprovider.Config{
		Limits: []mockprovider.Limit{limits.Quota{Limit: 1, Every: 24 * time.Hour, At: 8 * time.Hour, Terms: exact(wire.BodySeconds)}},
		Faults: []mockprovider.Fault{{From: time.Hour, To: 2 * time.Hour, Does: Skew{Ahead: -30 * time.Minute}}},
	}, `
		arrive 1 -> 1 started 0s
		@1h arrive 2 -> 2 429 quota after=7h30m0s limit=1 left=0
		@2h arrive 3 -> 3 429 quota after=6h0m0s limit=1 left=0
		@8h arrive 4 -> 4 started 0s`)
}

// The times of resets are on the provider's clock too, where the form writes
// times.
func TestSkewOfResets(t *testing.T) {
	forms := wire.Plain()
	forms[wire.Rate].Marks = wire.ResetAsTime
	p, err := mockprovider.New(mockprovider.Config{
		Forms: &forms, Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Minute}},
		Faults: []mockprovider.Fault{from(0, Skew{Ahead: -10 * time.Second})},
	}, draw.New(1))
	require.NoError(t, err)
	p.Step(25*time.Second, &wire.Input{}, nil)
	r := p.Step(30*time.Second, &wire.Input{}, nil)[0].Reply
	// The minute of the clock is over at 60 s of the clock, which is 70 s.
	require.Equal(t, time.Minute, r.Reset)
	var o wire.Outcome
	wire.ByBody{}.Read(&r, 20*time.Second, &o)
	require.Equal(t, 40*time.Second, o.Reset)
}

// naiveClock counts by the number of the window that its clock shows. It knows
// this window's count and, if it looks back, the last one's.
type naiveClock struct {
	length, offset, ahead time.Duration
	number                time.Duration
	last, used            int64
	looksBack             bool
}

func (c *naiveClock) look(now time.Duration) {
	// The clock is moved ahead by many windows, so that it is never negative.
	n := (now + c.ahead - c.offset + 1000*c.length) / c.length
	switch n - c.number {
	case 0:
	case 1:
		c.last, c.used = c.used, 0
	case -1:
		c.last, c.used = 0, c.last
	default:
		c.last, c.used = 0, 0
	}
	if c.number = n; !c.looksBack {
		c.last = 0
	}
}

// Windows go by the provider's clock, however it is set.
func TestSkewAgainstNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length, limit := time.Duration(rapid.IntRange(1, 30).Draw(t, "length")), int32(rapid.IntRange(1, 5).Draw(t, "limit"))
		twin := naiveClock{length: length}
		var l mockprovider.Limit
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		switch kind {
		case 0:
			l = limits.Window{Limit: limit, Length: length}
		case 1:
			twin.offset = time.Duration(rapid.Int64Range(0, int64(length)-1).Draw(t, "reset hour"))
			l = limits.Quota{Limit: limit, Every: length, At: twin.offset}
		case 2:
			l = limits.Joint{Limit: limit, Length: length}
		case 3:
			l, twin.looksBack = limits.SlidingCounter{Limit: limit, Length: length}, true
		}
		gate, now := l.Gate(mockprovider.Space{}), time.Duration(0)
		for range rapid.IntRange(1, 100).Draw(t, "events") {
			now += time.Duration(rapid.IntRange(0, 10).Draw(t, "gap"))
			if rapid.IntRange(0, 4).Draw(t, "set") == 0 {
				twin.look(now)
				twin.ahead = time.Duration(rapid.IntRange(-100, 100).Draw(t, "ahead"))
				gate.(mockprovider.ClockSetter).SetClock(now, twin.ahead)
			}
			twin.look(now)
			fits := twin.used < int64(limit)
			if kind == 3 {
				left := length - (now+twin.ahead-twin.offset+1000*length)%length
				fits = int64(left)*twin.last+(twin.used+1)*int64(length) <= int64(limit)*int64(length)
			}
			r := wire.Request{}
			require.Equal(t, fits, gate.Take(now, &r), "at %d, clock %d", now, now+twin.ahead)
			if fits {
				twin.used++
				gate.Release(now, &r, mockprovider.Ended{Since: now})
			}
		}
	})
}
