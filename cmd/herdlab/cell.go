package main

import (
	"math"

	"herdlab/sim/metrics"
)

// mean is the mean of f, NaN if there is none.
func mean(f metrics.Figure) float64 {
	if f.Mean == nil {
		return math.NaN()
	}
	return *f.Mean
}

// meanOf shows the mean of m with its unit. A time that never came in some
// seeds has no mean: the share of these seeds is shown instead.
func meanOf(m metrics.Metric, unit string) func(*metrics.StrategyResult) string {
	return func(s *metrics.StrategyResult) string {
		f := s.Figure(m)
		if f.Never > 0 {
			return never(f.Never)
		}
		if f.Mean == nil {
			return humane(mean(f))
		}
		return meanText(f) + unit
	}
}

// meanText writes the mean of f. One that is a whole number by chance, while
// the seeds differ, keeps its digits after the point.
func meanText(f metrics.Figure) string {
	v := mean(f)
	if f.Lo != nil && f.Hi != nil && *f.Lo < *f.Hi && 1 <= v && v < 999.5 {
		return threeDigits(v)
	}
	return humane(v)
}

func never(share float64) string {
	if share == 1 {
		return "never"
	}
	return "never " + tightPercent(share)
}

func successCell(s *metrics.StrategyResult) string {
	return percent(mean(s.Figure(metrics.SuccessRate)))
}
