package sweep_test

import (
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/sweep"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/presets"
)

// The reference experiment has the long outage; most tests use the short one.
const long, short = 300 * time.Second, 30 * time.Second

// secondPeak is the reference experiment for the named built-in strategies: 60
// workers with one job each, a provider that is out for a while and then has 6
// slots of 2 s each.
func secondPeak(outage time.Duration, seeds []uint64, names ...string) sweep.Spec {
	spec := sweep.Spec{
		Tool: metrics.Tool{Name: "herdlab", Version: "test"},
		Scenario: metrics.Scenario{
			Name: "second-peak", SHA256: "b19", Clients: 60, Capacity: 3, OneShot: true, Bin: 1, Horizon: 3 * 3600,
			Faults: []metrics.Span{{Name: "outage", To: outage.Seconds()}},
		},
		Seeds: seeds,
	}
	programs := make([]*strategies.Program, len(names))
	for i, name := range names {
		d, err := presets.Lookup(name, presets.Knowledge{Rate: 6, Per: 2 * time.Second, Concurrency: 6})
		if err != nil {
			panic(err)
		}
		if programs[i], err = strategies.Compile(d, nil); err != nil {
			panic(err)
		}
		spec.Strategies = append(spec.Strategies, sweep.Strategy{Name: name, Summary: d.Summary})
	}
	spec.New = func(strategy int, seed uint64) (*sim.Experiment, error) {
		root := draw.New(seed)
		p, err := mockprovider.New(mockprovider.Config{
			Capacity:    mockprovider.Capacity{Slots: 6, Service: mockprovider.Service{First: draw.Const(2 * time.Second)}, Full: mockprovider.As503},
			RefusalTime: 50 * time.Millisecond,
			Faults:      []mockprovider.Fault{faults.Outage(0, outage, mockprovider.As503)},
		}, root.For(1))
		if err != nil {
			return nil, err
		}
		return &sim.Experiment{
			Fleets:   []sim.Fleet{{Traffic: traffic.OneShot(60, time.Millisecond), Program: programs[strategy]}},
			Provider: p, Rand: root.For(2),
			Plan: metrics.Plan{FaultEnd: outage, Horizon: 3 * time.Hour, Capacity: 3, OneShot: true},
		}, nil
	}
	return spec
}

// firstSeeds are n seeds.
func firstSeeds(n int) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = uint64(i + 1)
	}
	return seeds
}
