package cli

import (
	"math"
	"strconv"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
)

// meanText returns the mean of f, or a dash if it has none.
func meanText(f metrics.Estimate) string {
	if f.Mean == nil {
		return format.Number(math.NaN())
	}
	return format.Mean(*f.Mean, f.Vary())
}

// meanOf returns a function for the text of a mean of m with its unit.
func meanOf(m metrics.Metric, unit string) func(*metrics.StrategyResult) string {
	return func(s *metrics.StrategyResult) string {
		f := s.Estimate(m)
		if f.Mean == nil {
			return meanText(f)
		}
		return meanText(f) + unit
	}
}

// settlingCell is meanOf for a time that can be never: if it is on some seeds, there
// is no mean, and the share of these seeds is the text.
func settlingCell(m metrics.Metric) func(*metrics.StrategyResult) string {
	return func(s *metrics.StrategyResult) string {
		switch f := s.Estimate(m); {
		case f.Never > 0:
			return never(f.Never)
		case f.Mean == nil:
			return meanText(f)
		default:
			return format.Settling(*f.Mean, f.Vary())
		}
	}
}

func never(share float64) string {
	if share == 1 {
		return "never"
	}
	return "never " + tightPercent(share)
}

// tightPercent returns a share of the seeds for a cell: in whole per cent, without a
// space; as in format.Percent, only 0 is 0 % and only 1 is 100 %.
func tightPercent(share float64) string {
	switch p := math.Round(100 * share); {
	case p == 0 && share > 0:
		return "<1%"
	case p == 100 && share < 1:
		return ">99%"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + "%"
	}
}

// latencyCell returns the p99 latency over all calls; ≥ precedes a lower bound.
func latencyCell(s *metrics.StrategyResult) string {
	f := s.Estimate(metrics.LatencyP99)
	switch {
	case f.Never > 0:
		return "never"
	case f.Mean == nil:
		return meanText(f)
	}
	text := format.Time(*f.Mean, f.Vary())
	if bound := s.Estimate(metrics.LatencyP99Bound); bound.Mean != nil && *bound.Mean > 0 {
		return "≥ " + text
	}
	return text
}

// successCell returns the share of the judged calls that are answered; ≥ precedes it
// if calls still waited at the end that may be answered.
func successCell(s *metrics.StrategyResult) string {
	lower, upper := s.Estimate(metrics.SuccessLower), s.Estimate(metrics.SuccessUpper)
	switch {
	case lower.Mean == nil || upper.Mean == nil:
		return meanText(lower)
	case *upper.Mean > *lower.Mean:
		return "≥ " + format.Percent(*lower.Mean)
	}
	return format.Percent(*lower.Mean)
}
