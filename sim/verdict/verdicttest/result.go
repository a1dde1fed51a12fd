// Package verdicttest makes up results of comparisons, for tests.
package verdicttest

import (
	"fmt"
	"time"

	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/verdict"
)

// Strategy is a strategy with made-up runs: 60 calls, all answered with 240
// attempts and a drain of 60 s, unless Edit changes the values.
type Strategy struct {
	Name string
	Edit func(seed uint64, v *metrics.Values)
}

// Outage is a scenario with a capacity of 3 per second and an outage of 300 s.
func Outage() metrics.Scenario {
	return metrics.Scenario{
		Name: "outage", SHA256: "0123456789abcdef", Text: "a < b: \"}{\" ×\n", Capacity: 3, OneShot: true, Bin: 1, Horizon: 3600,
		Faults: []metrics.Span{{Name: "blip", From: 1, To: 2}, {Name: "outage", From: 0, To: 300}},
	}
}

// Result returns the complete result of the strategies with the seeds, without
// a verdict.
func Result(s metrics.Scenario, seeds []uint64, strategies ...Strategy) *metrics.Result {
	r := &metrics.Result{
		SchemaVersion: metrics.SchemaVersion, Tool: metrics.Tool{Name: "herdlab", Version: "test"},
		Scenario: s, Seeds: seeds, Complete: true,
	}
	for _, strategy := range strategies {
		values := make([]metrics.Values, len(seeds))
		signals := make([][]metrics.Signal, len(seeds))
		for i, seed := range seeds {
			values[i] = run(&s, seed, strategy.Edit)
			if values[i][metrics.Alarms] > 0 {
				first := time.Duration(values[i][metrics.FirstAlarm] * float64(time.Second))
				signals[i] = []metrics.Signal{
					{Reason: fmt.Sprint("reason ", seed%2), Alarm: true, Count: seed, First: first},
					{Reason: "never raised"}, {Reason: "reason 1", Count: 1, First: time.Second},
				}
			}
		}
		r.Results = append(r.Results, metrics.StrategyResult{
			Strategy: strategy.Name, Summary: "a made-up one", Metrics: verdict.Summarise(values), Signals: metrics.SummariseSignals(signals),
			Timeline: metrics.Timeline{Seed: seeds[0], Width: 1, Calls: []uint32{60, 0}, Attempts: []uint32{60, 180}, Useful: []uint32{0, uint32(seeds[0])}},
		})
	}
	return r
}

func run(s *metrics.Scenario, seed uint64, edit func(uint64, *metrics.Values)) (v metrics.Values) {
	v[metrics.Calls], v[metrics.Attempts], v[metrics.Amplification] = 60, 240, 4
	v[metrics.SuccessRate], v[metrics.BelievedSuccessRate] = 1, 1
	v[metrics.JudgedCalls], v[metrics.SuccessLower], v[metrics.SuccessUpper] = 60, 1, 1
	v[metrics.HerdPeak], v[metrics.HerdPeakOfCapacity] = 3, 1
	v[metrics.CompletionTime] = 360
	v[metrics.Peak], v[metrics.PeakAfter], v[metrics.PeakAfterOfCapacity] = 60, 6, 2
	v[metrics.SecondPeak], v[metrics.SecondPeakTime] = metrics.Undefined, metrics.Undefined
	v[metrics.DrainTime], v[metrics.RecoveryTime] = 60, metrics.Undefined
	v[metrics.FirstAlarm] = metrics.Undefined
	if !s.OneShot {
		v[metrics.RecoveryTime] = 30
	}
	if edit != nil {
		edit(seed, &v)
	}
	if s.Capacity == 0 {
		v[metrics.PeakAfterOfCapacity] = metrics.Undefined
		v[metrics.HerdPeak], v[metrics.HerdPeakOfCapacity] = metrics.Undefined, metrics.Undefined
	}
	if len(s.Faults) == 0 {
		v[metrics.PeakAfter], v[metrics.PeakAfterOfCapacity] = metrics.Undefined, metrics.Undefined
	}
	return v
}

// Varied returns strategies with every kind of value: numbers, never, undefined.
func Varied() []Strategy {
	return []Strategy{
		{"steady", nil},
		{"jittered", func(seed uint64, v *metrics.Values) {
			r := draw.New(seed)
			v[metrics.DrainTime] = 55 + 10*r.Float(0)
			v[metrics.Attempts] = float64(200 + r.Below(1, 100))
			v[metrics.Goodput] = 1 / (3 + r.Float(2))
		}},
		{"sometimes never", func(seed uint64, v *metrics.Values) {
			if seed%3 == 0 {
				v[metrics.DrainTime] = metrics.Never
				v[metrics.PendingCalls], v[metrics.OverdueCalls], v[metrics.SuccessRate] = 6, 6, 0.9
				v[metrics.SuccessLower], v[metrics.SuccessUpper] = 0.9, 0.9
			}
		}},
		{"sometimes a second peak", func(seed uint64, v *metrics.Values) {
			if seed%2 == 0 {
				v[metrics.SecondPeak], v[metrics.SecondPeakTime] = 7, 0.1*float64(seed)
			}
		}},
		{"sometimes costs and alarms", func(seed uint64, v *metrics.Values) {
			if seed%4 == 0 || seed == 9 {
				v[metrics.Hedges], v[metrics.Spent], v[metrics.CostPerAnswer] = 3, 0.25, metrics.Never
				v[metrics.Alarms], v[metrics.FirstAlarm] = 2, 0.5*float64(seed)
			}
		}},
	}
}

// Seeds returns the seeds from first to last.
func Seeds(first, last uint64) (seeds []uint64) {
	for s := first; s <= last; s++ {
		seeds = append(seeds, s)
	}
	return seeds
}

// Drains returns a strategy that drains after the given seconds, spread later on
// odd seeds.
func Drains(name string, seconds, spread float64) Strategy {
	return Strategy{name, func(seed uint64, v *metrics.Values) {
		v[metrics.DrainTime] = seconds
		if seed%2 == 1 {
			v[metrics.DrainTime] += spread
		}
	}}
}

// WithPeak returns s with the given peaks, per second: the herd peak, and the peak
// after the fault.
func WithPeak(s Strategy, attempts float64) Strategy {
	return Strategy{s.Name, func(seed uint64, v *metrics.Values) {
		s.Edit(seed, v)
		v[metrics.PeakAfter], v[metrics.PeakAfterOfCapacity] = attempts, attempts/3
		v[metrics.HerdPeak], v[metrics.HerdPeakOfCapacity] = attempts, attempts/3
	}}
}

// WithFailures returns s with the given number of failed calls.
func WithFailures(s Strategy, calls float64) Strategy {
	return Strategy{s.Name, func(seed uint64, v *metrics.Values) {
		s.Edit(seed, v)
		v[metrics.FailedCalls], v[metrics.SuccessRate], v[metrics.BelievedSuccessRate] = calls, 1-calls/60, 1-calls/60
		v[metrics.SuccessLower], v[metrics.SuccessUpper] = 1-calls/60, 1-calls/60
		v[metrics.DrainTime] = metrics.Never
	}}
}
