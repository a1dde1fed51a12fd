package main

import (
	"context"
	"fmt"
	"log"

	"herdlab/scenarios"
	"herdlab/sim/metrics"
	"herdlab/sim/sweep"
	"herdlab/strategies"
)

func main() {
	result, err := compare(20)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range result.Results {
		peak, drain := s.Estimate(metrics.PeakAfter), s.Estimate(metrics.DrainTime)
		if drain.Mean == nil {
			fmt.Printf("%-20s peak after %6.1f per s   never drains\n", s.Strategy, *peak.Mean)
			continue
		}
		fmt.Printf("%-20s peak after %6.1f per s   drain %5.1f s\n", s.Strategy, *peak.Mean, *drain.Mean)
	}
	fmt.Println()
	fmt.Println("winner:", result.Verdict.Winner)
}

// compare runs the founding experiment with Spread among its strategies.
func compare(seeds int) (*metrics.Result, error) {
	scenario, err := scenarios.Builtin("second-peak")
	if err != nil {
		return nil, err
	}
	if err := scenario.Add(Spread{}.Definition()); err != nil { // the one line
		return nil, err
	}
	return sweep.Compare(context.Background(), scenario.Spec(1, seeds))
}

// Definition is what a comparison takes.
func (s Spread) Definition() strategies.Definition {
	return strategies.Definition{
		Name:    "spread",
		Summary: "wait U(0, age of the call): as wide as the outage was long",
		Layers:  []strategies.Layer{s},
	}
}
