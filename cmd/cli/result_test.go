package cli

import (
	"math"

	"herdlab/sim/metrics"
)

// handMade is a result made up by hand, after the table of the reference experiment:
// the pages do not depend on the simulator.
func handMade() *metrics.Result {
	p := 0.001
	r := &metrics.Result{
		SchemaVersion: metrics.SchemaVersion,
		Tool:          metrics.Tool{Name: "herdlab", Version: "test"},
		Scenario: metrics.Scenario{
			Name: "second-peak", Title: "sixty workers meet an outage, and some come back as a herd",
			Clients: 60, Capacity: 3, OneShot: true, Bin: 1, Horizon: 10800,
			Faults: []metrics.Span{{Name: "outage", From: 0, To: 300}},
		},
		Seeds:    []uint64{1, 2, 3, 4},
		Complete: true,
		Verdict: &metrics.Verdict{
			Objective: "drain", MaxPeak: 5, Winner: "breaker+full-jitter", RunnerUp: "token-bucket",
			Significant: true, PValue: &p, Outcome: metrics.Won, Metric: "drain_time",
			Disqualified: []metrics.Disqualification{
				{Strategy: "naive", Reason: "peak after the fault is 362 × capacity"},
				{Strategy: "five-tries", Reason: "loses all 60 calls"},
			},
			Sentence: "breaker+full-jitter wins by drain: 56.2 s after the outage on average, 5.71 s before token-bucket (p = 0.001, paired by seed). Disqualified are naive, whose peak after the outage is 362 × capacity (at most 5 are allowed), and five-tries, which loses all 60 calls.",
		},
	}
	for _, x := range []struct {
		name                             string
		success, ampl, peak, drain, p99  float64
		spread                           float64
		every, width, until, first, rate int // the shape of the timeline
	}{
		{"naive", 1, 6181, 1086, 20.001, 319.7, 0, 1, 1, 321, 1200, 1086},
		{"fixed-30s", 1, 15.5, 60, 272.951, 572.9, 0, 30, 1, 572, 60, 60},
		{"exponential+0.5s", 1, 15.37, 39.93, 604.016, 903.1, 0.4, 64, 2, 904, 60, 40},
		{"decorrelated-jitter", 1, 17.59, 4.073, 69.85, 369.4, 1.5, 1, 1, 370, 60, 4},
		{"five-tries", 0, 5, 0, math.Inf(1), math.NaN(), 0, 4, 1, 17, 60, 60},
		{"breaker+full-jitter", 1, 2.85, 12.284, 56.16, 355.8, 2, 30, 4, 357, 60, 9},
		{"token-bucket", 0.9996, 11.11, 3.718, 61.87, 361.2, 1, 1, 1, 361, 4, 3},
	} {
		attempts := make([]uint32, x.until)
		for i := range attempts {
			if i%x.every < x.width {
				attempts[i] = uint32(x.rate)
			}
		}
		attempts[0] = uint32(x.first)
		r.Results = append(r.Results, metrics.StrategyResult{
			Strategy: x.name, Summary: "made up",
			Metrics: map[string]metrics.Estimate{
				"calls":                  figureOf("calls", 60, 0),
				"attempts":               figureOf("attempts", 60*x.ampl, 60*x.spread/10),
				"amplification":          figureOf("attempts/call", x.ampl, x.spread/10),
				"success_rate":           figureOf("share", x.success, 0),
				"success_lower":          figureOf("share", x.success, 0),
				"success_upper":          figureOf("share", x.success, 0),
				"herd_peak":              figureOf("attempts/window", x.peak, x.spread),
				"herd_peak_of_capacity":  figureOf("× capacity", x.peak/3, x.spread/3),
				"peak":                   figureOf("attempts/bin", float64(x.first), 0),
				"peak_of_capacity":       figureOf("× capacity", float64(x.first)/3, 0),
				"peak_after":             figureOf("attempts/bin", x.peak, x.spread),
				"peak_after_of_capacity": figureOf("× capacity", x.peak/3, x.spread/3),
				"second_peak":            figureOf("attempts/bin", secondPeak(x.peak), x.spread),
				"second_peak_time":       figureOf("s", secondPeak(x.peak)*0, 0),
				"drain_time":             figureOf("s", x.drain, x.spread),
				"recovery_time":          figureOf("s", math.NaN(), 0),
				"goodput":                figureOf("calls/s", x.success*60/(300+min(x.drain, 600)), 0),
				"silent_losses":          figureOf("calls", 0, 0),
				"latency_p50":            figureOf("s", x.p99-10, x.spread),
				"latency_p95":            figureOf("s", x.p99-3, x.spread),
				"latency_p99":            figureOf("s", x.p99, x.spread),
				"slot_time":              figureOf("s", 120*x.success, 0),
				"wasted_slot_time":       figureOf("s", 0, 0),
			},
			Timeline: metrics.Timeline{Seed: 1, Width: 1, Attempts: attempts},
		})
	}
	return r
}

func secondPeak(after float64) float64 {
	if after > 6 {
		return after
	}
	return math.NaN()
}

// figureOf is a figure of four seeds: infinity is never, NaN undefined.
func figureOf(unit string, mean, half float64) metrics.Estimate {
	f := metrics.Estimate{Unit: unit, PerSeed: make([]*float64, 4)}
	switch {
	case math.IsNaN(mean):
		f.Undefined = 1
	case math.IsInf(mean, 0):
		f.Never = 1
	default:
		lo, hi := mean-half, mean+half
		f.Mean, f.Median, f.Lo, f.Hi = &mean, &mean, &lo, &hi
		for i := range f.PerSeed {
			f.PerSeed[i] = &mean
		}
	}
	return f
}
