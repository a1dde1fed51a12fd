package mockprovider

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/providertest"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Two slots that are always held, a target of 50 %: after a minute twice as
// many are wanted, and come half a minute later.
func TestAutoscale(t *testing.T) {
	cfg := Config{Capacity: Capacity{
		Slots: 2, Queue: 100, Service: takes(time.Hour),
		Autoscale: &Autoscale{Min: 2, Max: 6, Target: 50, Period: time.Minute, Delay: 30 * time.Second},
	}}
	p := play(t, cfg, `
		arrive 1 -> 1 started 1h0m0s
		arrive 2 -> 2 started 1h0m0s
		arrive 3 -> queued
		arrive 4 -> queued
		arrive 5 -> queued
		arrive 6 -> queued
		arrive 7 -> queued
		@60s tick -> nothing
		@90s tick -> 3 started 1h0m0s; 4 started 1h0m0s
		@2m tick -> nothing                                          # 6 of 8: half a minute of 2, half of 4
		@150s tick -> 5 started 1h0m0s; 6 started 1h0m0s
		@3m tick -> nothing                                          # there are no more than 6
		@10m done 1 -> 1 200 ok slot=10m0s; 7 started 1h0m0s
		done 2 -> 2 200 ok slot=10m0s
		done 3 -> 3 200 ok slot=8m30s
		done 4 -> 4 200 ok slot=8m30s
		done 5 -> 5 200 ok slot=7m30s
		done 6 -> 6 200 ok slot=7m30s
		tick -> nothing
		@11m tick -> nothing`)
	require.Equal(t, 2, p.stations[0].slots, "one of 6 is held: at 50 % two are enough")
	require.Equal(t, 12*time.Minute, p.NextTick())
}

// Slots that were ordered and are not wanted any more do not come.
func TestAutoscaleChangesItsMind(t *testing.T) {
	a := newScaler(Autoscale{Min: 1, Max: 100, Target: 50, Period: time.Minute, Delay: 5 * time.Minute}, 10)
	a.count(time.Minute, 10, 10)
	a.decide(time.Minute)
	require.Equal(t, [2]int{10, 10}, [2]int{a.slots, a.more})
	require.Equal(t, 2*time.Minute, a.changes())
	a.count(2*time.Minute, 8, 10)
	a.decide(2 * time.Minute) // 16 are wanted, and 20 there or coming
	require.Equal(t, [2]int{10, 10}, [2]int{a.slots, a.more})
	a.count(3*time.Minute, 1, 10)
	a.decide(3 * time.Minute)
	require.Equal(t, [2]int{2, 0}, [2]int{a.slots, a.more})
	a.count(6*time.Minute, 1, 2)
	a.decide(6 * time.Minute)
	require.Equal(t, 2, a.slots)
}

// A model turns hot: its load grows thirtyfold within an hour, and the
// autoscaler doubles the slots every half hour at most. What is served dips to
// slots ÷ load, and recovers once there are slots enough.
func TestAutoscaleLateForAHotModel(t *testing.T) {
	const load0, load1 = 10.0, 300.0 // Erlang; the fluid limit, on a loss system
	load := func(at time.Duration) float64 {
		return load0 + (load1-load0)*min(at.Hours(), 1)
	}
	a := newScaler(Autoscale{Min: 10, Max: 1000, Target: 50, Period: 30 * time.Minute}, 20)
	least, recovered := 1.0, time.Duration(0)
	for now := time.Duration(0); now < 6*time.Hour; now += time.Second {
		a.decide(now)
		served := min(load(now), float64(a.slots))
		a.count(now+time.Second, int(served), a.slots)
		if share := served / load(now); share < least {
			least = share
		} else if share < 1 {
			recovered = now
		}
	}
	require.InDelta(t, 20/load(30*time.Minute), least, 0.001, "20 until 0:30, when the load is halfway")
	require.InDelta(t, 2, recovered.Hours(), 0.01, "40 at 0:30, 80, 160 and 320 at 2:00 are enough")
	require.InDelta(t, 2*load1, a.slots, 1, "half of them are held in the end")
}

func TestAutoscaleValidate(t *testing.T) {
	good := Autoscale{Min: 1, Max: 5, Target: 60, Period: time.Minute, Delay: time.Minute}
	for want, change := range map[string]func(*Autoscale){
		"it must keep between at least 1 slot and no fewer at most, not 0 to 5": func(a *Autoscale) { a.Min = 0 },
		"it must keep between at least 1 slot and no fewer at most, not 7 to 5": func(a *Autoscale) { a.Min = 7 },
		"it begins with 3 slots: that must be 4 to 5":                           func(a *Autoscale) { a.Min = 4 },
		"it begins with 3 slots: that must be 1 to 2":                           func(a *Autoscale) { a.Max = 2 },
		"the target is a percentage from 1 to 100, not 101":                     func(a *Autoscale) { a.Target = 101 },
		"the period must be 1ms or more, not 1µs":                               func(a *Autoscale) { a.Period = time.Microsecond },
		"the delay must not be negative, and no time beyond all times":          func(a *Autoscale) { a.Delay = -1 },
	} {
		a := good
		change(&a)
		require.EqualError(t, a.validate(3), want)
	}
	require.NoError(t, good.validate(3))
}

// Very many slots for a very long time add up without overflow.
func TestAreas(t *testing.T) {
	var a area
	for range 10 {
		a.add(1<<40, 1<<60)
	}
	require.Equal(t, 10*0x1p100, a.float())
	a = area{}
	for range 10 {
		a.add(3, math.MaxInt64)
	}
	require.InEpsilon(t, 30*0x1p63, a.float(), 1e-15)
}

// A driver that comes late finds one decision, and not a million.
func TestAutoscaleLateDriver(t *testing.T) {
	cfg := Config{Capacity: Capacity{
		Slots: 1, Autoscale: &Autoscale{Min: 1, Max: 6, Target: 50, Period: time.Millisecond}, Service: takes(time.Hour),
	}}
	p, err := New(cfg, draw.New(1))
	require.NoError(t, err)
	require.Equal(t, 1, providertest.Arrivals(t, p, longest))
	require.Greater(t, p.NextTick(), longest)

	// Periods keep to their beat, however late it is heard.
	for at, next := range map[time.Duration]time.Duration{0: 1, 3500 * time.Microsecond: 4, 4 * time.Millisecond: 5} {
		p, err = New(cfg, draw.New(1))
		require.NoError(t, err)
		p.Step(at, &wire.Input{Kind: wire.Tick}, nil)
		require.Equal(t, next*time.Millisecond, p.NextTick(), "after %v", at)
	}
}
