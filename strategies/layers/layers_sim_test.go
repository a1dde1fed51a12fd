package layers_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// rushHour is ten minutes of 30 impatient clients, each asking the same twenty
// times, before three models in three regions, of three slots each, and if so
// wished a limit on each of three keys.
func rushHour(t *testing.T, limited bool, layers ...strategies.Layer) *metrics.Report {
	t.Helper()
	program, err := strategies.Compile(strategies.Definition{Name: "x", Layers: layers}, nil)
	require.NoError(t, err)
	cfg := mockprovider.Config{
		Capacity:    mockprovider.Capacity{Slots: 3, Queue: 2, Service: mockprovider.Service{First: draw.Expo(500 * time.Millisecond)}},
		Models:      make([]mockprovider.ModelConfig, 3),
		Regions:     make([]mockprovider.RegionConfig, 3),
		RefusalTime: 20 * time.Millisecond,
		Space:       mockprovider.Space{Keys: 3, Models: 3, Regions: 3},
	}
	if limited {
		cfg.Limits = []mockprovider.Limit{limits.SlidingLog{Limit: 60, Length: 10 * time.Second, Terms: mockprovider.Terms{Per: mockprovider.Key}}}
		cfg.ReportedLimit = 1
	}
	provider, err := mockprovider.New(cfg, draw.New(1))
	require.NoError(t, err)
	x := sim.Experiment{
		Fleets: []sim.Fleet{{
			Name: "fleet", Program: program, Patience: 30 * time.Second,
			Traffic: traffic.Traffic{
				Clients: 30, Calls: 20, Start: draw.Between(0, time.Second), Think: draw.Expo(time.Second),
				Size: wire.Demand{Prompt: 7, InputTokens: 100, OutputTokens: 100},
			},
		}},
		Provider: provider, Rand: draw.New(2), Plan: metrics.Plan{Horizon: 30 * time.Minute},
	}
	rep, err := x.Run(context.Background())
	require.NoError(t, err)
	return rep
}

// Each layer lives in the simulator, whose books must balance, alone and between
// a retry loop and a semaphore: all calls are settled, and twice the same way.
func TestEveryLayerInTheSimulator(t *testing.T) {
	retry := layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: 8 * time.Second}, MaxAttempts: 6}
	for name, layer := range everyLayer() {
		t.Run(name, func(t *testing.T) {
			for _, stack := range [][]strategies.Layer{
				{layer},
				{retry, layer, layers.Concurrency{Permits: 20, Scope: strategies.PerFleet}},
			} {
				rep := rushHour(t, true, stack...)
				require.Equal(t, rep, rushHour(t, true, stack...))
				b := rep.Belief
				require.EqualValues(t, 600, b.Calls)
				require.EqualValues(t, 600, b.Succeeded+b.Failed, "all are settled")
				require.NotZero(t, b.Succeeded, "and not all by giving up")
			}
		})
	}
}

// What layers are for, each against doing nothing about it: limits spare the
// provider refusals, other models and regions take what one cannot, and equal
// questions are asked once.
func TestWhatLayersAreFor(t *testing.T) {
	retry := layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: 8 * time.Second}}
	const fleet = strategies.PerFleet
	five := layers.LimitRange{Initial: 5}
	bare := rushHour(t, false, retry)
	t.Logf("retry alone: %d attempts, %d useful in %v", bare.Belief.Attempts, bare.Belief.Useful, bare.End)
	for name, c := range map[string]struct {
		layers   []strategies.Layer
		useful   uint64  // at least, of 600
		attempts float64 // at most, for each useful answer
		faster   float64 // at least
	}{
		"aimd":          {[]strategies.Layer{retry, layers.AIMD{LimitRange: five, Decrease: 0.5, Scope: fleet}}, 600, 1.2, 1},
		"bbr":           {[]strategies.Layer{retry, layers.BBR{LimitRange: five, Scope: fleet}}, 600, 1.2, 0.8},
		"vegas":         {[]strategies.Layer{retry, layers.Vegas{LimitRange: five, Scope: fleet}}, 600, 1.2, 0.8},
		"concurrency":   {[]strategies.Layer{retry, layers.Concurrency{Permits: 5, Scope: fleet}}, 600, 1, 1},
		"ladder":        {[]strategies.Layer{retry, layers.Ladder{Rungs: []layers.Rung{{Model: 0}, {Model: 1}, {Model: 2}}}}, 500, 3, 2.5},
		"failover":      {[]strategies.Layer{retry, layers.Failover{Regions: []uint8{0, 1, 2}, Rounds: 1, Scope: fleet}}, 500, 3, 2.5},
		"single flight": {[]strategies.Layer{retry, layers.SingleFlight{Scope: fleet}}, 600, 0.2, 3},
		"cache":         {[]strategies.Layer{layers.Cache{TTL: time.Minute, Scope: fleet}, retry}, 600, 0.1, 3},
		"merge":         {[]strategies.Layer{retry, layers.Merge{Size: 10, Window: time.Second, Scope: fleet}}, 600, 0.2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			rep := rushHour(t, false, c.layers...)
			b := rep.Belief
			t.Logf("%d attempts, %d useful in %v", b.Attempts, b.Useful, rep.End)
			require.GreaterOrEqual(t, b.Useful, c.useful)
			require.LessOrEqual(t, float64(b.Attempts), c.attempts*float64(b.Useful))
			require.GreaterOrEqual(t, float64(bare.End), c.faster*float64(rep.End))
		})
	}
}
