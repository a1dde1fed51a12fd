package mockprovider

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// A pool of 10 slots of 1000 tokens each.
func TestTokenPool(t *testing.T) {
	pool := Config{Capacity: Capacity{Slots: 10, Unit: 1000, Service: takes(10 * time.Second)}}
	p := play(t, pool, `
		arrive 1 input=3000 tokens=1001 -> 1 started 10s            # 5 slots
		arrive 2 input=1000 tokens=9000 max=2000 -> 2 started 10s   # 3, for what is asked for
		arrive 3 input=3000 -> 3 503 overloaded
		arrive 4 input=2000 -> 4 started 10s
		arrive 5 -> 5 503 overloaded                                # nothing takes less than 1
		@10s done 2 -> 2 200 ok slot=10s
		arrive 6 input=3001 -> 6 503 overloaded
		arrive 7 -> 7 started 10s
		arrive 8 input=10001 -> 8 413 too_large                     # not ever
		arrive 9 input=4294967295 tokens=4294967295 -> 9 413 too_large`)
	require.Equal(t, 3, p.Busy())
	require.Equal(t, 8, p.stations[0].used)

	// No request overtakes another in a queue: the next one waits for enough slots.
	pool.Queue = 3
	play(t, pool, `
		arrive 1 input=6000 -> 1 started 10s
		arrive 2 input=2000 -> 2 started 10s
		arrive 3 input=7000 -> queued
		arrive 4 input=1000 -> queued
		arrive 5 input=3000 -> queued
		arrive 6 input=1000 -> 6 503 overloaded
		@10s done 2 -> 2 200 ok slot=10s
		done 1 -> 1 200 ok slot=10s; 3 started 10s; 4 started 10s
		@20s done 4 -> 4 200 ok slot=10s; 5 started 10s`)
	// Unless the discipline says that the newcomer is next.
	pool.Discipline.Order = LIFO
	play(t, pool, `
		arrive 1 input=8000 -> 1 started 10s
		arrive 2 input=3000 -> queued
		arrive 3 input=2000 -> 3 started 10s`)
}

// A change of capacity acts on who waits; work in service is finished.
func TestSlotsComeAndGo(t *testing.T) {
	cfg := Config{Capacity: Capacity{
		Slots: 4, Queue: 9, Service: takes(10 * time.Second),
		Day: Schedule{Steps: []Step{{2 * time.Second, 0.5}, {12 * time.Second, 1.2}, {30 * time.Second, 0}, {40 * time.Second, 0.1}}},
	}}
	p := play(t, cfg, `
		arrive 1 -> 1 started 10s
		arrive 2 -> 2 started 10s
		arrive 3 -> 3 started 10s
		arrive 4 -> 4 started 10s
		@1s arrive 5 -> queued
		arrive 6 -> queued
		arrive 7 -> queued
		arrive 8 -> queued
		@2s tick -> nothing
		@10s done 1 -> 1 200 ok slot=10s
		done 2 -> 2 200 ok slot=10s
		done 3 -> 3 200 ok slot=10s; 5 started 10s      # two slots are left
		done 4 -> 4 200 ok slot=10s; 6 started 10s
		@12s tick -> 7 started 10s; 8 started 10s
		arrive 9 -> 9 started 10s                       # 4.8 slots are 5
		arrive 10 -> queued
		@30s done 5 -> 5 200 ok slot=20s
		done 6 -> 6 200 ok slot=20s
		done 7 -> 7 200 ok slot=18s
		@39s done 8 -> 8 200 ok slot=27s
		done 9 -> 9 200 ok slot=27s
		arrive 11 -> queued
		@45s arrive 12 -> 10 started 10s`) // the driver came late; 12 waits behind 11
	require.Equal(t, 1, p.Busy())
	require.Equal(t, 2, p.Queued())
	require.Equal(t, never, p.NextTick())
}

// What others hold is not there, but a part of a slot is.
func TestOthersHoldSlots(t *testing.T) {
	s := &station{Capacity: &Capacity{Slots: 10}, scale: 1, others: [2]*Schedule{{}, {}}}
	open := func(model, region, scale float64, percent int32) [2]int {
		s.scale, s.others = scale, [2]*Schedule{{Steps: []Step{{Value: model}}}, {Steps: []Step{{Value: region}}}}
		s.resize(0, percent)
		require.Equal(t, s.slots, s.open+s.taken)
		return [2]int{s.slots, s.open}
	}
	require.Equal(t, [2]int{10, 10}, open(0, 0, 1, 100))
	require.Equal(t, [2]int{10, 7}, open(0.3, 0, 1, 100))
	require.Equal(t, [2]int{10, 3}, open(0.7, 0, 1, 100))
	require.Equal(t, [2]int{10, 1}, open(0.99, 0, 1, 100))
	require.Equal(t, [2]int{10, 0}, open(1, 0, 1, 100))
	require.Equal(t, [2]int{10, 6}, open(0.3, 0.2, 1, 100), "5.6")
	require.Equal(t, [2]int{3, 3}, open(0, 0, 0.3, 100))
	require.Equal(t, [2]int{1, 1}, open(0, 0, 1, 1))
	require.Equal(t, [2]int{2, 1}, open(0.5, 0, 0.5, 25), "1.25 slots")
	require.Equal(t, [2]int{0, 0}, open(0, 0, 1, 0))

	// Where nothing bounds them, part of them is as many; none of them is none.
	s.Capacity = &Capacity{}
	require.Equal(t, [2]int{unbounded, unbounded}, open(0, 0, 1, 1))
	require.Equal(t, [2]int{0, 0}, open(0, 0, 1, 0))
}

func TestCrowd(t *testing.T) {
	cfg := fleetOfModels()
	cfg.Models[1].Others = Always(0.5)
	p := play(t, cfg, `
		arrive 1 model=1 -> 1 started 1s
		arrive 2 model=1 -> queued
		arrive 3 model=1 region=1 -> 3 started 1s`)
	require.Equal(t, Occupancy{Slots: 2, Others: 1, Used: 1, Busy: 1, Queued: 1}, p.Occupancy(wire.Target{Model: 1}))
	require.Equal(t, Occupancy{Slots: 4, Others: 2, Used: 1, Busy: 1}, p.Occupancy(wire.Target{Model: 1, Region: 1}))
	require.Equal(t, Occupancy{Slots: 1}, p.Occupancy(wire.Target{}))
	require.Zero(t, p.Occupancy(wire.Target{Model: 2}))
	require.Zero(t, p.Occupancy(wire.Target{Region: 200}))
	require.Equal(t, Occupancy{Slots: -1}, play(t, Config{}, "").Occupancy(wire.Target{Model: 7}))
}
