package strategies

import (
	"maps"
	"time"

	"herdlab/mockprovider/wire"
)

// protections is one of each layer that retries with care, gives up in time or
// spares the provider, for the tests of any history.
func protections() map[string]Layer {
	const fleet = PerFleet
	backoff := ByClass{Classes: Limits, Then: FullJitter{Base: 20 * time.Millisecond, Factor: 1.5}, Else: PlusMinus(Linear{Step: 5 * time.Millisecond}, 50)}
	ratio := Breaker{Trip: CountWindow{Last: 6, Min: 2, Percent: 50}, OpenFor: 100 * time.Millisecond, Probes: 3, CloseAfter: 2, OpenAfter: 2,
		ProbeTimeout: 50 * time.Millisecond, MinWait: 10 * time.Millisecond, Jitter: 10 * time.Millisecond, Scope: fleet}
	timed := ratio
	timed.Trip, timed.OpenJitter, timed.SlowAfter = TimeWindow{Within: time.Second, Percent: 60, SlowPercent: 80}, 50*time.Millisecond, 60*time.Millisecond
	life := ratio
	life.Trip, life.FailFast = Lifetime{Clear: time.Second, Percent: 40}, true
	return map[string]Layer{
		"retry":           Retry{Backoff: backoff, MaxElapsed: time.Second, MinWait: time.Millisecond, Hints: Hints{Use: HintAsFloor, Spread: 20, Restart: true}},
		"retry giving up": Retry{Backoff: PollyJitter{Base: time.Millisecond}, MaxAttempts: 4, Hints: Hints{Use: HintAsWait, Most: time.Second / 2, Beyond: GiveUp}},
		"retry refusals":  Retry{Backoff: Capped{Of: Exponential{Base: time.Millisecond, Jitter: time.Second}, Cap: time.Second}, MaxAttempts: 4, On: Rules{Classes: AnyFailure, Refusals: true, Marks: MarksDecide}},
		"orbit":           Orbit{Mean: 20 * time.Millisecond, Scope: fleet},
		"breaker":         Breaker{Failures: 2, OpenFor: 100 * time.Millisecond, MinWait: time.Millisecond, Jitter: 20 * time.Millisecond, Scope: fleet},
		"count breaker":   ratio,
		"time breaker":    timed,
		"life breaker":    life,
		"attempt timeout": AttemptTimeout{After: time.Minute},
		"deadline":        Deadline{Within: 300 * time.Millisecond, Least: 10 * time.Millisecond},
		"bulkhead":        Bulkhead{Permits: 2, Line: 2, Patience: 50 * time.Millisecond, Scope: fleet},
		"cool-down":       CoolDown{For: 100 * time.Millisecond, Jitter: 10 * time.Millisecond, Pace: 5 * time.Millisecond, ProbeTimeout: 80 * time.Millisecond, Scope: fleet},
		"charged":         CoolDown{For: 100 * time.Millisecond, Pace: 5 * time.Millisecond, Charged: true, On: Transient, Scope: fleet},
		"throttle":        Throttle{Window: time.Second, Scope: fleet},
		"shedder":         Shedder{Above: []int{30}, Window: time.Second, Hold: 20 * time.Millisecond, Scope: fleet},
		"grpc budget":     GRPCBudget{MaxTokens: 4, Ratio: 500, Scope: fleet},
		"finagle budget":  FinagleBudget{Percent: 50, MinPerSecond: 1, Scope: fleet},
		"envoy budget":    EnvoyBudget{Percent: 50, Floor: 1, Scope: fleet},
		"aws budget":      AWSBudget{Capacity: 50, Cost: 5, Other: ClassesOf(wire.Timeout), OtherCost: 10, Scope: fleet},
		"brooker budget":  BrookerBudget{Size: 2, Deposit: 300, Scope: fleet},
	}
}

// everyLayer is one of each layer.
func everyLayer() map[string]Layer {
	all := variety()
	maps.Copy(all, protections())
	return all
}
