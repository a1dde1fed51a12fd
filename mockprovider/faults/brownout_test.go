package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
)

// Ten slots, of which a brownout leaves three: what is in service is carried on,
// the queue moves when fewer are busy, and starts at once when it is over.
func TestBrownout(t *testing.T) {
	p := play(t, mockprovider.Config{
		Capacity: mockprovider.Capacity{Slots: 4, Queue: 4, Service: takes(10 * time.Second)},
		Faults:   []mockprovider.Fault{{From: time.Second, To: 30 * time.Second, Does: Brownout{Percent: 50}}},
	}, `
		arrive 1 -> 1 started 10s
		arrive 2 -> 2 started 10s
		arrive 3 -> 3 started 10s
		@1s arrive 4 -> queued
		arrive 5 -> queued
		arrive 6 -> queued
		arrive 7 -> queued
		arrive 8 -> 8 503 overloaded
		@10s done 1 -> 1 200 ok slot=10s
		done 2 -> 2 200 ok slot=10s; 4 started 10s
		done 3 -> 3 200 ok slot=10s; 5 started 10s
		@20s done 4 -> 4 200 ok slot=10s; 6 started 10s
		arrive 9 -> queued
		@30s tick -> 7 started 10s; 9 started 10s`)
	require.Equal(t, 4, p.Busy())
	require.Zero(t, p.Queued())
}

// Several multiply; one slot is left unless nothing is.
func TestBrownoutsMultiply(t *testing.T) {
	p := play(t, mockprovider.Config{
		Capacity: mockprovider.Capacity{Slots: 10, Queue: 20, Service: takes(time.Hour)},
		Faults: []mockprovider.Fault{
			{To: 90 * time.Second, Does: Brownout{}},
			{From: 10 * time.Second, To: 70 * time.Second, Does: Brownout{Percent: 50}},
			{To: 60 * time.Second, Does: Brownout{Percent: 50}},
		},
	}, "")
	busy := func(at time.Duration) int {
		p.Step(at, &wire.Input{Kind: wire.Tick}, nil)
		return p.Busy()
	}
	for i := range uint32(20) {
		require.Empty(t, p.Step(time.Duration(i), &wire.Input{Ticket: i}, nil), "nothing is left")
	}
	require.Zero(t, busy(60*time.Second))
	require.Zero(t, busy(70*time.Second))
	require.Equal(t, 10, busy(90*time.Second))

	p = play(t, mockprovider.Config{
		Capacity: mockprovider.Capacity{Slots: 10, Queue: 20, Service: takes(time.Hour)},
		Faults: []mockprovider.Fault{
			{To: 60 * time.Second, Does: Brownout{Percent: 50}},
			{To: 70 * time.Second, Does: Brownout{Percent: 50}},
			{To: 80 * time.Second, Does: Brownout{Percent: 1}},
		},
	}, "")
	for i := range uint32(20) {
		p.Step(time.Duration(i), &wire.Input{Ticket: i}, nil)
	}
	require.Equal(t, 1, busy(59*time.Second)) // 1 % of a quarter of 10, but not nothing
	require.Equal(t, 1, busy(60*time.Second))
	require.Equal(t, 1, busy(70*time.Second))
	require.Equal(t, 10, busy(80*time.Second))
}

// A brownout may be of some models, in some regions.
func TestBrownoutOfARegion(t *testing.T) {
	two := []mockprovider.ModelConfig{{}, {}}
	play(t, mockprovider.Config{
		Capacity: mockprovider.Capacity{Slots: 1, Service: takes(time.Hour)}, Models: two, Regions: []mockprovider.RegionConfig{{}, {}},
		Faults: []mockprovider.Fault{{To: time.Second, Where: mockprovider.Match{Models: mockprovider.Just(1), Regions: mockprovider.Just(0)}, Does: Brownout{}}},
	}, `
		arrive 1 model=1 region=0 -> 1 503 overloaded
		arrive 2 model=1 region=1 -> 2 started 1h0m0s
		arrive 3 model=0 region=0 -> 3 started 1h0m0s
		arrive 4 model=0 region=1 -> 4 started 1h0m0s
		@1s arrive 5 model=1 region=0 -> 5 started 1h0m0s`)
}

func TestLimitCut(t *testing.T) {
	play(t, mockprovider.Config{
		Limits: []mockprovider.Limit{limits.Window{Limit: 4, Length: time.Minute}, limits.Window{Limit: 10, Length: time.Hour}},
		Faults: []mockprovider.Fault{{From: 60 * time.Second, To: 90 * time.Second, Does: LimitCut{Limit: 1, Percent: 50}}},
	}, `
		arrive 1 -> 1 started 0s
		@60s arrive 2 -> 2 started 0s
		arrive 3 -> 3 started 0s
		arrive 4 -> 4 429 rate limit=2 left=0
		@90s arrive 5 -> 5 started 0s       # what was counted is still counted
		arrive 6 -> 6 started 0s
		arrive 7 -> 7 429 rate limit=4 left=0`)
	play(t, mockprovider.Config{
		Limits: []mockprovider.Limit{limits.Window{Limit: 4, Length: time.Minute}, limits.Window{Limit: 8, Length: time.Hour}},
		Faults: []mockprovider.Fault{from(0, LimitCut{Percent: 50}), from(0, LimitCut{Limit: 1, Percent: 10})},
	}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 429 rate limit=1 left=0   # 5 % of 4, but not nothing
		@1m arrive 3 -> 3 started 0s
		@2m arrive 4 -> 4 started 0s
		@3m arrive 5 -> 5 started 0s
		@4m arrive 6 -> 6 429 rate limit=4 left=0`)
	play(t, mockprovider.Config{
		Limits: []mockprovider.Limit{limits.Window{Limit: 40, Length: time.Minute}},
		Faults: []mockprovider.Fault{from(0, LimitCut{Percent: 50}), {To: time.Minute, Does: LimitCut{Limit: 1, Percent: 10}}},
	}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 started 0s
		arrive 3 -> 3 429 rate limit=2 left=0   # they multiply
		@1m arrive 4 -> 4 started 0s
		arrive 5 -> 5 started 0s
		arrive 6 -> 6 started 0s`)
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{limits.Semaphore{Limit: 100}}, Faults: []mockprovider.Fault{{To: time.Second, Does: LimitCut{}}}}, `
		arrive 1 -> 1 429 concurrency
		@1s arrive 1 -> 1 started 0s`)
}

// A brownout takes slots away from who waits, and gives them back.
func TestBrownoutResizes(t *testing.T) {
	cfg := mockprovider.Config{
		Capacity: mockprovider.Capacity{Slots: 4, Queue: 5, Service: takes(10 * time.Second)},
		Faults:   []mockprovider.Fault{{From: time.Second, To: 15 * time.Second, Does: Brownout{Percent: 25}}},
	}
	play(t, cfg, `
		arrive 1 -> 1 started 10s
		arrive 2 -> 2 started 10s
		@2s arrive 3 -> queued
		arrive 4 -> queued
		@10s done 1 -> 1 200 ok slot=10s
		done 2 -> 2 200 ok slot=10s; 3 started 10s
		@15s tick -> 4 started 10s`)
}
