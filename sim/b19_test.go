package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"herdlab/mockprovider"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
)

func TestScratch(t *testing.T) {
	for _, b := range strategies.Builtins() {
		d, _ := strategies.Lookup(b.Name, strategies.Knowledge{Rate: 6, Per: 2 * time.Second, Concurrency: 6})
		prog, err := strategies.Compile(d, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 300
		if b.Name == "naive" {
			n = 1
		}
		t0 := time.Now()
		var peak, att, in, drain float64
		for seed := range n {
			root := draw.New(uint64(seed))
			p, err := mockprovider.New(mockprovider.Config{Slots: 6, Service: mockprovider.Service{First: draw.Const(2 * time.Second)},
				RefusalTime: 50 * time.Millisecond, Outages: []mockprovider.Outage{{To: 300 * time.Second, Refusal: mockprovider.As503}}, Full: mockprovider.As503}, root.For(1))
			if err != nil {
				t.Fatal(err)
			}
			x := sim.Experiment{Fleets: []sim.Fleet{{Traffic: traffic.OneShot(60, time.Millisecond), Program: prog}}, Provider: p, Rand: root.For(2),
				Plan: metrics.Plan{FaultEnd: 300 * time.Second, Horizon: 3 * time.Hour, OneShot: true}}
			rep, err := x.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			pk, _ := rep.Peak(true)
			peak += float64(pk)
			att += float64(rep.Belief.Attempts)
			in += float64(rep.AttemptsInFault)
			drain += rep.Drain()
		}
		N := float64(n)
		fmt.Printf("%-20s peak %8.3f att %10.2f (%9.2f) drain %8.3f   %v\n", b.Name, peak/N, att/N, in/N, drain/N, time.Since(t0)/time.Duration(n))
	}
}
