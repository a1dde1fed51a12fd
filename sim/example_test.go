package sim_test

import (
	"context"
	"fmt"
	"time"

	"herdlab/mockprovider"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// Ten clients call a provider of one slot at once; the refused ones come back
// every two seconds.
func Example() {
	retry := layers.Retry{Backoff: backoffs.Fixed{Every: 2 * time.Second}}
	program, err := strategies.Compile(strategies.Definition{Name: "fixed", Layers: []strategies.Layer{retry}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	provider, err := mockprovider.New(mockprovider.Config{Capacity: mockprovider.Capacity{
		Slots: 1, Service: mockprovider.Service{First: draw.Const(time.Second)},
	}}, draw.New(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	x := sim.Experiment{
		Fleets:   []sim.Fleet{{Name: "workers", Traffic: traffic.Traffic{Clients: 10, Calls: 1}, Program: program}},
		Provider: provider,
		Plan:     metrics.Plan{Horizon: time.Minute, OneShot: true},
	}
	report, err := x.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Belief.Useful, "calls,", report.Belief.Attempts, "attempts, ended at", report.End)
	// Output: 10 calls, 55 attempts, ended at 19s
}
