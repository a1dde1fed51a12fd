package layers_test

import (
	"maps"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// protections is one of each layer that retries with care, gives up in time or
// spares the provider, for the tests of any history.
func protections() map[string]strategies.Layer {
	const fleet = strategies.PerFleet
	backoff := backoffs.ByClass{Classes: strategies.Limits, Then: backoffs.FullJitter{Base: 20 * time.Millisecond, Factor: 1.5}, Else: backoffs.PlusMinus(backoffs.Linear{Step: 5 * time.Millisecond}, 50)}
	ratio := layers.Breaker{Trip: layers.CountWindow{Last: 6, Min: 2, Percent: 50}, OpenFor: 100 * time.Millisecond, Probes: 3, CloseAfter: 2, OpenAfter: 2,
		ProbeTimeout: 50 * time.Millisecond, MinWait: 10 * time.Millisecond, Jitter: 10 * time.Millisecond, Scope: fleet}
	timed := ratio
	timed.Trip, timed.OpenJitter, timed.SlowAfter = layers.TimeWindow{Within: time.Second, Percent: 60, SlowPercent: 80}, 50*time.Millisecond, 60*time.Millisecond
	life := ratio
	life.Trip, life.FailFast = layers.Lifetime{Clear: time.Second, Percent: 40}, true
	return map[string]strategies.Layer{
		"retry":           layers.Retry{Backoff: backoff, MaxElapsed: time.Second, MinWait: time.Millisecond, Hints: layers.Hints{Use: layers.HintAsFloor, Spread: 20, Restart: true}},
		"retry giving up": layers.Retry{Backoff: backoffs.PollyJitter{Base: time.Millisecond}, MaxAttempts: 4, Hints: layers.Hints{Use: layers.HintAsWait, Most: time.Second / 2, Beyond: layers.GiveUp}},
		"retry refusals":  layers.Retry{Backoff: backoffs.Capped{Of: backoffs.Exponential{Base: time.Millisecond, Jitter: time.Second}, Cap: time.Second}, MaxAttempts: 4, On: layers.Rules{Classes: strategies.AnyFailure, Refusals: true, Marks: layers.MarksDecide}},
		"orbit":           layers.ConstantRetrial{Mean: 20 * time.Millisecond, Scope: fleet},
		"breaker":         layers.Breaker{Failures: 2, OpenFor: 100 * time.Millisecond, MinWait: time.Millisecond, Jitter: 20 * time.Millisecond, Scope: fleet},
		"count breaker":   ratio,
		"time breaker":    timed,
		"life breaker":    life,
		"attempt timeout": layers.AttemptTimeout{After: time.Minute},
		"deadline":        layers.Deadline{Within: 300 * time.Millisecond, Least: 10 * time.Millisecond},
		"bulkhead":        layers.Bulkhead{Permits: 2, Line: 2, Patience: 50 * time.Millisecond, Scope: fleet},
		"cool-down":       layers.CoolDown{For: 100 * time.Millisecond, Jitter: 10 * time.Millisecond, Pace: 5 * time.Millisecond, ProbeTimeout: 80 * time.Millisecond, Scope: fleet},
		"charged":         layers.CoolDown{For: 100 * time.Millisecond, Pace: 5 * time.Millisecond, Charged: true, On: strategies.Transient, Scope: fleet},
		"throttle":        layers.Throttle{Window: time.Second, Scope: fleet},
		"shedder":         layers.Shedder{Above: []int{30}, Window: time.Second, Hold: 20 * time.Millisecond, Scope: fleet},
		"grpc budget":     layers.GRPCBudget{MaxTokens: 4, Ratio: 500, Scope: fleet},
		"finagle budget":  layers.FinagleBudget{Percent: 50, MinPerSecond: 1, Scope: fleet},
		"envoy budget":    layers.EnvoyBudget{Percent: 50, Floor: 1, Scope: fleet},
		"aws budget":      layers.AWSBudget{Capacity: 50, Cost: 5, Other: strategies.ClassesOf(wire.Timeout), OtherCost: 10, Scope: fleet},
		"brooker budget":  layers.BrookerBudget{Size: 2, Deposit: 300, Scope: fleet},
	}
}

// everyLayer is one of each layer.
func everyLayer() map[string]strategies.Layer {
	all := variety()
	maps.Copy(all, protections())
	return all
}
