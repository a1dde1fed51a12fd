package plots

import (
	"math"

	"herdlab/sim/metrics"
	"herdlab/sim/verdict"
)

// The results for the tests: the reference experiment, replayed traffic, and a
// very large fleet.

// reference has thirteen strategies that retry in waves, with plausible values:
// sixty clients, an outage of 300 s, a capacity of three per second.
func reference() *metrics.Result {
	p := 0.01
	r := &metrics.Result{
		SchemaVersion: metrics.SchemaVersion,
		Scenario: metrics.Scenario{
			Name: "second-peak", Clients: 60, Capacity: 3, OneShot: true, Bin: 1, Horizon: 3600,
			Faults: []metrics.Span{{Name: "outage", From: 0, To: 300}},
		},
		Seeds: []uint64{1, 2, 3}, Complete: true,
	}
	type shape struct {
		name        string
		every       int // seconds between waves
		size        float64
		peak, drain float64
	}
	for _, s := range []shape{
		{"naive", 1, 1086, 1086, 20}, {"fixed-30s", 30, 60, 60, 272.951}, {"fixed-30s+0.5s", 30, 40, 39.93, 279.04},
		{"fixed-30s+30s", 1, 4, 4.265, 67.72}, {"uniform-90-150s", 2, 3, 3.238, 134.5}, {"exponential", 64, 60, 60, 597.951},
		{"exponential+0.5s", 64, 40, 39.93, 604.016}, {"full-jitter", 1, 4, 4.487, 64.64}, {"equal-jitter", 1, 4, 4.121, 68.99},
		{"decorrelated-jitter", 1, 4, 4.073, 69.85}, {"five-tries", 4, 60, 0, metrics.Never},
		{"breaker+full-jitter", 3, 12, 12.284, 56.16}, {"token-bucket", 1, 3, 3.718, 61.87},
	} {
		t := metrics.Timeline{Seed: 1, Width: 1}
		end := min(s.drain, 20-300) // a strategy that stops retrying
		if s.drain < metrics.Never {
			end = s.drain
		}
		for i := range int(300 + math.Ceil(end)) {
			var n, u uint32
			if i%s.every == 0 {
				n = uint32(math.Ceil(s.size))
				if i >= 300 {
					n = uint32(math.Ceil(s.size * (1 - 0.8*float64(i-300)/max(end, 1))))
					u = min(n, 3)
				}
			}
			t.Attempts, t.Useful, t.Calls = append(t.Attempts, n), append(t.Useful, u), append(t.Calls, 0)
		}
		r.Results = append(r.Results, metrics.StrategyResult{Strategy: s.name, Timeline: t, Metrics: values(
			metrics.PeakAfter, s.peak, metrics.DrainTime, s.drain, metrics.Amplification, s.size/2, metrics.SuccessRate, 1.0)})
	}
	r.Verdict = &metrics.Verdict{
		Objective: "drain", MaxPeak: 5, Winner: "breaker+full-jitter", RunnerUp: "token-bucket", Significant: true, PValue: &p, Outcome: metrics.Won, Metric: "drain_time",
		Sentence: "breaker+full-jitter wins on drain time after the outage: 56.2 s, before token-bucket with 61.9 s.",
	}
	for _, name := range []string{"naive", "fixed-30s", "fixed-30s+0.5s", "exponential", "exponential+0.5s", "five-tries"} {
		r.Verdict.Disqualified = append(r.Verdict.Disqualified, metrics.Disqualification{Strategy: name, Reason: "its peak is over the bound"})
	}
	return r
}

// trace has 3,500 bins of continuous bursty traffic, an outage, and a strategy
// with silent losses.
func trace() *metrics.Result {
	r := &metrics.Result{
		Scenario: metrics.Scenario{
			Name: "trace-replay", Clients: 20, Capacity: 10, Bin: 1, Horizon: 3500,
			Faults: []metrics.Span{{Name: "outage", From: 1500, To: 1620}},
		},
		Seeds: []uint64{1, 2, 3, 4, 5}, Complete: true,
	}
	for k, name := range []string{"fixed-30s", "exponential+0.5s", "full-jitter", "breaker+full-jitter", "token-bucket", "status-only"} {
		t := metrics.Timeline{Seed: 1, Width: 1}
		for i := range 3500 {
			n := 0
			if i%97 < 20 { // bursts
				n = (i*i + k) % 19
			}
			if i == 700 {
				n = 67
			}
			a, u := n, min(n, 10)
			if i >= 1500 && i < 1620 {
				a, u = n+k, 0
			}
			if i == 1620+30*k/2 {
				a += 40
			}
			t.Calls, t.Attempts, t.Useful = append(t.Calls, uint32(n)), append(t.Attempts, uint32(a)), append(t.Useful, uint32(u))
		}
		r.Results = append(r.Results, metrics.StrategyResult{Strategy: name, Timeline: t, Metrics: values(
			metrics.PeakAfter, float64(40+k), metrics.RecoveryTime, float64(5*k), metrics.Amplification, 1.1,
			metrics.SuccessRate, 1-0.067*float64(k/5), metrics.SilentLosses, float64(k/5*592))})
	}
	return r
}

// million has waves of a million attempts, and a strategy that never recovers for
// some seeds.
func million() *metrics.Result {
	r := &metrics.Result{
		Scenario: metrics.Scenario{
			Name: "million", Clients: 1_000_000, Capacity: 10_000, OneShot: true, Bin: 1, Horizon: 600,
			Faults: []metrics.Span{{Name: "outage", From: 0, To: 120}},
		},
		Seeds: []uint64{1, 2, 3}, Complete: true,
	}
	for k, name := range []string{"fixed-30s", "full-jitter", "a strategy of my own"} {
		t := metrics.Timeline{Seed: 1, Width: 1}
		for i := range 300 {
			a := []int{0, 500_000 / (i + 1), 30_000 + i%7*1000}[k]
			if k == 0 && i%30 == 0 {
				a = 1_000_000
			}
			t.Attempts = append(t.Attempts, uint32(a))
			t.Useful = append(t.Useful, uint32(min(a, 10_000)*min(i/120, 1)))
		}
		r.Results = append(r.Results, metrics.StrategyResult{Strategy: name, Timeline: t, Metrics: values(
			metrics.PeakAfter, []float64{1e6, 4166, 36_000}[k], metrics.DrainTime, float64(100+10*k))})
	}
	some := verdict.Summarise([]metrics.Values{at(metrics.DrainTime, 150), at(metrics.DrainTime, 180), at(metrics.DrainTime, metrics.Never)})
	r.Results[2].Metrics["drain_time"] = some["drain_time"]
	return r
}

// at returns the values of a run in which only m is defined.
func at(m metrics.Metric, v float64) metrics.Values {
	out := metrics.Values{}
	for i := range out {
		out[i] = metrics.Undefined
	}
	out[m] = v
	return out
}

// values returns metrics over three seeds: 99, 100 and 101 % of each given value.
func values(pairs ...any) metrics.Estimates {
	out := metrics.Estimates{}
	for i := 0; i < len(pairs); i += 2 {
		m, v := pairs[i].(metrics.Metric), pairs[i+1].(float64)
		all := verdict.Summarise([]metrics.Values{at(m, v*0.99), at(m, v), at(m, v*1.01)})
		out[m.Info().Name] = all[m.Info().Name]
	}
	return out
}
