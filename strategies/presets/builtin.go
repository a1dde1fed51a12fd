package presets

import (
	"errors"
	"fmt"
	"math"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// Knowledge is the capacity of the provider, as documented or measured. Strategies
// that stay below a limit need it. The zero value means that the capacity is unknown.
type Knowledge struct {
	// The provider can serve Rate requests per Per.
	Rate int64
	Per  time.Duration
	// Concurrency is the number of requests served at a time, 0 if unknown.
	Concurrency int64
}

// Builtin is one strategy of the built-in table.
type Builtin struct {
	Name    string
	Summary string
	// Define returns the definition for a provider with the capacity k.
	Define func(k Knowledge) strategies.Definition
}

// Builtins returns the built-in strategies in the order in which lists show them,
// from the worst to the best.
func Builtins() []Builtin {
	return []Builtin{
		{"naive", "retry at once, without a bound, and ignore hints", plain(layers.Retry{Backoff: backoffs.Fixed{}, Hints: layers.Hints{Use: layers.HintIgnored}})},
		{"fixed-30s", "wait 30 s and ignore hints: the herd returns within one second", plain(layers.Retry{Backoff: backoffs.Fixed{Every: 30 * time.Second}, Hints: layers.Hints{Use: layers.HintIgnored}})},
		{"fixed-30s+0.5s", "wait 30 s + U(0, 0.5 s): jitter too small to matter", plain(layers.Retry{Backoff: backoffs.Fixed{Every: 30 * time.Second, Jitter: time.Second / 2}})},
		{"fixed-30s+30s", "wait 30 s + U(0, 30 s): jitter as wide as the wait", plain(layers.Retry{Backoff: backoffs.Fixed{Every: 30 * time.Second, Jitter: 30 * time.Second}})},
		{"uniform-90-150s", "wait U(90 s, 150 s): patient, for background jobs", plain(layers.Retry{Backoff: backoffs.Uniform{Low: 90 * time.Second, High: 150 * time.Second}})},
		{"exponential", "wait 1, 2, 4 … 64 s without jitter", plain(layers.Retry{Backoff: backoffs.Exponential{Base: time.Second, Cap: 64 * time.Second}})},
		{"exponential+0.5s", "wait 1, 2, 4 … 64 s, each + U(0, 0.5 s)", plain(layers.Retry{Backoff: articleBackoff})},
		{"full-jitter", "wait U(0, min(64 s, 1 s·2ⁿ)): the simplest backoff that spreads a herd", plain(layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: 64 * time.Second}})},
		{"equal-jitter", "wait half of 1, 2, 4 … 64 s and draw the other half", plain(layers.Retry{Backoff: backoffs.EqualJitter{Base: time.Second, Cap: 64 * time.Second}})},
		{"decorrelated-jitter", "wait min(64 s, U(1 s, 3 × the last wait))", plain(layers.Retry{Backoff: backoffs.DecorrelatedJitter{Base: time.Second, Cap: 64 * time.Second}})},
		{"five-tries", "exponential+0.5s, but five attempts at most", plain(layers.Retry{Backoff: articleBackoff, MaxAttempts: 5})},
		{"breaker+full-jitter", "full jitter behind a breaker shared by the fleet", plain(fullJitter, sharedBreaker)},
		{"token-bucket", "full jitter behind a shared bucket of 70 % of capacity", tokenBucket},
		{"worker-queue", "evenly at 70 % of capacity; failed calls return to the end of the queue", workerQueue},
		{"header-limit", "full jitter behind a copy of the limit window that replies report", plain(fullJitter, layers.HeaderLimit{Spread: true, Scope: strategies.PerFleet})},
		{"aimd", "full jitter inside a limit on attempts in flight that refusals halve", plain(fullJitter, layers.AIMD{Decrease: 0.5, Scope: strategies.PerFleet})},
		{"vegas", "full jitter inside a limit on attempts in flight that keeps queues short", plain(fullJitter, layers.Vegas{Scope: strategies.PerFleet})},
		{"gradient2", "full jitter inside a limit on attempts in flight that follows latency", plain(fullJitter, layers.Gradient2{Scope: strategies.PerFleet})},
		{"bbr", "full jitter inside a limit on attempts in flight of rate × round trip", plain(fullJitter, layers.BBR{Scope: strategies.PerFleet})},
		{"hedge-p95", "full jitter, and a second attempt for one slow call in twenty", plain(fullJitter, layers.Hedge{After: 10 * time.Second, Quantile: 0.95, Percent: 5, Scope: strategies.PerFleet})},
		{"ladder-2-1-1", "flagship twice, standard, light; U(90 s, 150 s) in between", plain(articleLadder)},
		{"status-only", "full jitter; reads only the status: counts 200 + 14003 as success", statusOnly},
	}
}

var (
	// articleBackoff is the backoff of the reference articles: base·2ⁿ + U(0, 0.5 s).
	articleBackoff = backoffs.Exponential{Base: time.Second, Cap: 64 * time.Second, Jitter: time.Second / 2}
	fullJitter     = layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: 64 * time.Second}}
	sharedBreaker  = layers.Breaker{
		Failures: 5, OpenFor: 30 * time.Second, Scope: strategies.PerFleet,
		MinWait: 100 * time.Millisecond, Jitter: 10 * time.Second,
	}
)

// articleLadder is the ladder of three models of the reference article.
var articleLadder = layers.Ladder{
	Rungs:   []layers.Rung{{Model: 0, Tries: 2}, {Model: 1}, {Model: 2}},
	Backoff: backoffs.Uniform{Low: 90 * time.Second, High: 150 * time.Second},
}

// plain returns a definition that does not depend on the capacity.
func plain(layers ...strategies.Layer) func(Knowledge) strategies.Definition {
	return func(Knowledge) strategies.Definition { return strategies.Definition{Layers: layers} }
}

// tokenBucket uses 70 % of the known capacity as the rate and half of the known
// concurrency as the burst: the margin that the reference articles recommend.
func tokenBucket(k Knowledge) strategies.Definition {
	return margin(k, func(rate int64, per time.Duration) []strategies.Layer {
		return []strategies.Layer{fullJitter, layers.TokenBucket{Rate: rate, Per: per, Burst: max(1, k.Concurrency/2), Scope: strategies.PerFleet}}
	})
}

// workerQueue uses the same rate, without a burst.
func workerQueue(k Knowledge) strategies.Definition {
	return margin(k, func(rate int64, per time.Duration) []strategies.Layer {
		return []strategies.Layer{layers.WorkerQueue{Rate: rate, Per: per, Workers: k.Concurrency, Scope: strategies.PerFleet}}
	})
}

// margin returns a definition for 70 % of the known capacity.
func margin(k Knowledge, layers func(rate int64, per time.Duration) []strategies.Layer) strategies.Definition {
	switch {
	case k.Rate <= 0 || k.Per <= 0:
		return strategies.Definition{Layers: []strategies.Layer{impossible("it stays below the provider's capacity, which is not known; " +
			"give the provider slots and a service time, or a limit on the rate")}}
	case k.Rate > math.MaxInt64/7 || k.Per > math.MaxInt64/10:
		return strategies.Definition{Layers: []strategies.Layer{impossible(fmt.Sprintf("a capacity of %d per %v is too large to take 70 %% of; "+
			"write it with smaller numbers", k.Rate, k.Per))}}
	}
	return strategies.Definition{Layers: layers(7*k.Rate, 10*k.Per)}
}

// impossible is a layer whose Build returns the text as its error. So a definition
// that needs an unknown capacity can be listed, and fails only when it is compiled.
type impossible string

// Build implements strategies.Layer.
func (why impossible) Build(*strategies.Build, strategies.Strategy) (strategies.Strategy, error) {
	return nil, errors.New(string(why))
}

func statusOnly(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: wire.ByStatus{}, Layers: []strategies.Layer{fullJitter}}
}

// Lookup returns the definition of the built-in strategy or preset with the given
// name, for a provider with the capacity k. It returns an error if the name is
// unknown. A definition that needs a capacity missing in k fails when it is compiled.
func Lookup(name string, k Knowledge) (strategies.Definition, error) {
	for _, b := range All() {
		if b.Name == name {
			d := b.Define(k)
			d.Name, d.Summary = b.Name, b.Summary
			return d, nil
		}
	}
	return strategies.Definition{}, fmt.Errorf("there is no strategy %q; Builtins and Presets list them", name)
}

// All returns the built-in strategies and then the presets.
func All() []Builtin {
	all := Builtins()
	for _, p := range Presets() {
		all = append(all, p.Builtin)
	}
	return all
}
