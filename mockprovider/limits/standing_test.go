package limits

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Successes tell of the limit that the configuration names, as it is when they
// leave.
func TestSuccessesTellOfALimit(t *testing.T) {
	cfg := mockprovider.Config{ReportedLimit: 2, Limits: []mockprovider.Limit{Semaphore{Limit: 9}, Window{Limit: 3, Length: 10 * time.Second}}, Capacity: mockprovider.Capacity{Service: takes(time.Second)}}
	play(t, cfg, `
		arrive 1 -> 1 started 1s
		arrive 2 -> 2 started 1s
		@1s done 1 -> 1 200 ok limit=3 left=1 slot=1s
		arrive 3 -> 3 started 1s
		done 2 -> 2 200 ok limit=3 left=0 slot=1s
		arrive 4 -> 4 429 rate limit=3 left=0`)
	// Tokens that were reserved are back by then.
	cfg.Limits[1] = TokenBucket{Limit: 100, Length: 100 * time.Second, Burst: 100, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.Reserved}}}
	play(t, cfg, `
		arrive 1 tokens=30 max=80 -> 1 started 1s
		@1s done 1 -> 1 200 ok limit=100 left=71 slot=1s`)
	// Headers come once: the end of a stream says what its head has said, though
	// there is less by then, and also where it breaks off.
	streams := mockprovider.Config{ReportedLimit: 1, Limits: []mockprovider.Limit{Window{Limit: 3, Length: 10 * time.Second}}, Capacity: mockprovider.Capacity{Service: mockprovider.Service{First: takes(time.Second).First, PerToken: time.Second}}}
	stream := `
		arrive 1 tokens=2 stream=1 -> 1 started 3s; 1 head in 1s
		arrive 2 tokens=0 -> 2 started 1s
		@1s done 2 -> 2 200 ok limit=3 left=1 slot=1s
		@3s done 1 -> `
	play(t, streams, stream+`1 200 ok limit=3 left=2 slot=3s`)
	streams.Faults = []mockprovider.Fault{{To: mockprovider.Forever, Does: faults.Spoil{Body: wire.SilentEnd, Tokens: 9}}}
	play(t, streams, strings.Replace(stream, "2 200 ok limit=3 left=1", "2 200 server_error garbage tokens=0", 1)+`1 200 disconnected silent end tokens=2 limit=3 left=2 slot=3s`)
	// Nothing is told of nothing.
	cfg.ReportedLimit = 0
	play(t, cfg, `
		arrive 1 tokens=30 max=80 -> 1 started 1s
		@1s done 1 -> 1 200 ok slot=1s`)
	cfg.ReportedLimit = 3
	require.EqualError(t, cfg.Validate(), "tells: there is no limit 3; use 1 to 2, or 0 for none")
}

// Refusals and successes say when the limit is whole again, as a wait or as a
// time on the provider's clock.
func TestReplyResets(t *testing.T) {
	for _, marks := range []wire.Marks{0, wire.ResetAsTime} {
		forms := wire.Plain()
		forms[wire.OK].Marks, forms[wire.Rate].Marks = marks, marks
		p, err := mockprovider.New(mockprovider.Config{Forms: &forms, ReportedLimit: 1, Limits: []mockprovider.Limit{TokenBucket{Limit: 60, Length: time.Minute, Burst: 2}}}, draw.New(1))
		require.NoError(t, err)
		var replies []wire.Reply
		for range 3 {
			effects := p.Step(10*time.Second, &wire.Input{}, nil)
			if effects[0].Kind == wire.Started {
				effects = p.Step(10*time.Second, &wire.Input{Kind: wire.Done, Job: effects[0].Job}, nil)
			}
			replies = append(replies, effects[0].Reply)
		}
		since := map[wire.Marks]time.Duration{wire.ResetAsTime: 10 * time.Second}[marks]
		for i, want := range []struct {
			remaining int32
			reset     time.Duration
		}{{1, time.Second}, {0, 2 * time.Second}, {0, 2 * time.Second}} {
			require.Equal(t, want.remaining, replies[i].Remaining)
			require.Equal(t, since+want.reset, replies[i].Reset)
			require.Equal(t, int32(60), replies[i].Limit)
			var o wire.Outcome
			wire.ByBody{}.Read(&replies[i], 10*time.Second, &o)
			require.Equal(t, want.reset, o.Reset, "to a client whose clock is right")
		}
	}
}

func TestStanding(t *testing.T) {
	p := play(t, mockprovider.Config{Space: mockprovider.Space{Accounts: 3}, Limits: []mockprovider.Limit{
		Window{Limit: 5, Length: time.Minute, Terms: mockprovider.Terms{Per: mockprovider.Account}},
		Semaphore{Limit: 4},
		Joint{Limit: 6, Length: time.Second},
		Penalty{Limit: 1, Length: time.Second, Block: time.Hour, Terms: mockprovider.Terms{Per: mockprovider.Account}},
	}, Capacity: mockprovider.Capacity{Service: takes(time.Hour)}}, `
		@10s arrive 1 account=1 -> 1 started 1h0m0s
		@10.25s arrive 2 account=1 -> 2 429 rate limit=1 left=0
		arrive 3 account=2 -> 3 started 1h0m0s`)
	at := 10*time.Second + 250*time.Millisecond
	one := &wire.Request{Account: 1}
	for i, want := range []mockprovider.Standing{
		{Allowance: mockprovider.Allowance{Limit: 5, Remaining: 4}, Used: 1, Reset: 49*time.Second + 750*time.Millisecond}, {Allowance: mockprovider.Allowance{Limit: 4, Remaining: 2}, Used: 2, Reset: 0}, {Allowance: mockprovider.Allowance{Limit: 6, Remaining: 2}, Used: 4, Reset: 750 * time.Millisecond}, {Allowance: mockprovider.Allowance{Limit: 1, Remaining: 0}, Used: 1, Reset: time.Hour},
	} {
		got, ok := p.Standing(i+1, at, one)
		require.True(t, ok)
		require.Equal(t, want, got)
		got, _ = p.Standing(i+1, at, one)
		require.Equal(t, want, got, "asking changes nothing")
	}
	for _, limit := range []int{0, 5, -1} {
		_, ok := p.Standing(limit, at, one)
		require.False(t, ok)
	}
	_, ok := p.Standing(1, at, &wire.Request{Account: 3})
	require.False(t, ok, "the account is unknown")
}

// A limit that is cut to a part decides as one that is that small from the
// beginning, and one that is restored as if nothing had been, but for what was
// counted meanwhile.
func TestScale(t *testing.T) {
	const percent, us = 30, time.Microsecond
	part := func(n int32) int32 { return max(1, n*percent/100) }
	for name, c := range map[string]struct{ whole, cut mockprovider.Limit }{
		"window":         {Window{Limit: 10, Length: 20 * us}, Window{Limit: 3, Length: 20 * us}},
		"anchored":       {Window{Limit: 10, Length: 20 * us, Anchored: true}, Window{Limit: 3, Length: 20 * us, Anchored: true}},
		"quota":          {Quota{Limit: 7, Every: 20 * us}, Quota{Limit: part(7), Every: 20 * us}},
		"log":            {SlidingLog{Limit: 10, Length: 20 * us}, SlidingLog{Limit: 3, Length: 20 * us}},
		"counter":        {SlidingCounter{Limit: 10, Length: 20 * us}, SlidingCounter{Limit: 3, Length: 20 * us}},
		"bucket":         {TokenBucket{Limit: 10, Length: 20 * us, Burst: 10}, TokenBucket{Limit: 3, Length: 20 * us, Burst: 3}},
		"small bucket":   {TokenBucket{Limit: 10, Length: 20 * us, Burst: 2}, TokenBucket{Limit: 3, Length: 20 * us, Burst: 1}},
		"semaphore":      {Semaphore{Limit: 10}, Semaphore{Limit: 3}},
		"joint":          {Joint{Limit: 10, Length: 20 * us}, Joint{Limit: 3, Length: 20 * us}},
		"sliced":         {Sliced{Limit: 20, Length: 40 * us, Slices: 2}, Sliced{Limit: 6, Length: 40 * us, Slices: 2}},
		"penalty":        {Penalty{Limit: 10, Length: 20 * us, Block: 25 * us}, Penalty{Limit: 3, Length: 20 * us, Block: 25 * us}},
		"ramp":           {Ramp{Base: 10, Length: 20 * us, Growth: 100}, Ramp{Base: 3, Length: 20 * us, Growth: 100}},
		"a ramp of one":  {Ramp{Base: 1, Length: 20 * us, Growth: 100}, Ramp{Base: 1, Length: 20 * us, Growth: 100}},
		"a limit of one": {Window{Limit: 1, Length: 20 * us}, Window{Limit: 1, Length: 20 * us}},
		"tiers":          {Tiered{{Limit: Window{Limit: 10, Length: 20 * us}}}, Window{Limit: 3, Length: 20 * us}},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				cut, small := c.whole.Gate(mockprovider.Space{}), c.cut.Gate(mockprovider.Space{})
				now := time.Duration(rapid.IntRange(0, 50).Draw(t, "begin")) * us
				cut.(mockprovider.Scaler).Scale(now, percent)
				r := wire.Request{}
				inFlight := 0
				for range 60 {
					now += time.Duration(rapid.IntRange(0, 7).Draw(t, "dt")) * us
					if inFlight > 0 && rapid.Bool().Draw(t, "ends") {
						cut.Release(now, &r, mockprovider.Ended{})
						small.Release(now, &r, mockprovider.Ended{})
						inFlight--
					}
					want := small.Take(now, &r)
					require.Equal(t, want, cut.Take(now, &r), "at %d", now)
					if want {
						inFlight++
						continue
					}
					require.Equal(t, small.Refuse(now, &r), cut.Refuse(now, &r))
				}
			})
		})
	}
}

// A limit cut to nothing admits no request, and its time until admission is unknown.
func TestScaleToNothing(t *testing.T) {
	all := append(counting(10, time.Second, mockprovider.Hint{}), Semaphore{Limit: 10}, Joint{Limit: 10, Length: time.Second}, Quota{Limit: 10, Every: time.Second},
		Sliced{Limit: 10, Length: time.Second, Slices: 2}, Penalty{Limit: 10, Length: time.Second, Block: time.Second}, GCRA{Interval: time.Second, Tolerance: 10 * time.Second})
	for _, l := range all {
		t.Run(fmt.Sprintf("%T", l), func(t *testing.T) {
			gate, r := l.Gate(mockprovider.Space{}), wire.Request{}
			require.True(t, gate.Take(0, &r))
			gate.Release(0, &r, mockprovider.Ended{})
			gate.(mockprovider.Scaler).Scale(time.Minute, 0)
			require.False(t, gate.Take(time.Minute, &r))
			verdict := gate.Refuse(time.Minute, &r)
			require.Zero(t, verdict.Admission, "it is not known")
			require.NotEqual(t, wire.TooLarge, verdict.Class, "it will be restored")
			require.Zero(t, verdict.Remaining)
			gate.(mockprovider.Scaler).Scale(time.Hour, 100)
			require.True(t, gate.Take(time.Hour, &r))
		})
	}
}

// Whoever is refused by a bucket that is cut below what is missing from it, and
// pays for it, gets nothing.
func TestScaleBucketThatCountsAll(t *testing.T) {
	gate := TokenBucket{Limit: 1, Length: time.Hour, Burst: 10, Terms: mockprovider.Terms{Keep: mockprovider.KeepAll}}.Gate(mockprovider.Space{})
	r := wire.Request{}
	for range 8 {
		require.True(t, gate.Take(0, &r))
	}
	gate.(mockprovider.Scaler).Scale(0, 50)
	require.False(t, gate.Take(0, &r))
	gate.(mockprovider.Scaler).Scale(0, 100)
	require.Equal(t, int32(2), gate.(mockprovider.StandingReporter).Standing(0, &r).Remaining)
}

// A bucket whose time has gone slower for a while has what came until then,
// no more and no less: 10 a second, half of that for three seconds.
func TestScaleBucketForAWhile(t *testing.T) {
	gate := TokenBucket{Limit: 10, Length: time.Second, Burst: 100}.Gate(mockprovider.Space{})
	r := wire.Request{}
	for range 100 {
		require.True(t, gate.Take(0, &r))
	}
	left := func(now time.Duration) int32 { return gate.(mockprovider.StandingReporter).Standing(now, &r).Remaining }
	require.Equal(t, int32(10), left(time.Second))
	gate.(mockprovider.Scaler).Scale(time.Second, 50)
	require.Equal(t, int32(0), left(time.Second), "what is missing from 50")
	require.Equal(t, mockprovider.Standing{Allowance: mockprovider.Allowance{Limit: 5}, Used: 75, Reset: 15 * time.Second}, gate.(mockprovider.StandingReporter).Standing(4*time.Second, &r))
	gate.(mockprovider.Scaler).Scale(4*time.Second, 100)
	require.Equal(t, int32(25), left(4*time.Second), "10 + 3 × 5")
	require.Equal(t, int32(35), left(5*time.Second))
}

// No limit needs more counters than there is memory for.
func TestCountersAreBounded(t *testing.T) {
	space := mockprovider.Space{Accounts: 1 << 30, Addresses: 1 << 31, Models: 200}
	per := mockprovider.Terms{Per: mockprovider.Account | mockprovider.Address | mockprovider.Model}
	const want = "it distinguishes too many callers; at most 268435456, so take a smaller space or count more of them together"
	for _, l := range []mockprovider.Limit{
		Window{Limit: 1, Length: 1, Terms: per}, Semaphore{Limit: 1, Terms: per}, Joint{Limit: 1, Length: 1, Terms: per},
		Only{Limit: Quota{Limit: 1, Terms: per}}, Tiered{{Limit: GCRA{Interval: 1}}, {Limit: Ramp{Base: 1, Growth: 100, Length: 1, Terms: per}}},
	} {
		cfg := mockprovider.Config{Space: space, Limits: []mockprovider.Limit{l}}
		require.EqualError(t, cfg.Validate(), "limit 1: "+want)
	}
	cfg := mockprovider.Config{Space: space, Limits: []mockprovider.Limit{Window{Limit: 1, Length: 1}}}
	require.NoError(t, cfg.Validate())
}
