package cli

import (
	"math"
	"strconv"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
)

// meanText writes the mean of f, a dash if there is none.
func meanText(f metrics.Figure) string {
	if f.Mean == nil {
		return format.Number(math.NaN())
	}
	return format.Mean(*f.Mean, f.Vary())
}

// meanOf shows the mean of m with its unit.
func meanOf(m metrics.Metric, unit string) func(*metrics.StrategyResult) string {
	return func(s *metrics.StrategyResult) string {
		f := s.Figure(m)
		if f.Mean == nil {
			return meanText(f)
		}
		return meanText(f) + unit
	}
}

// settlingCell shows the mean of a time that may never have come in some
// seeds: then it has no mean, and their share is shown instead.
func settlingCell(m metrics.Metric) func(*metrics.StrategyResult) string {
	return func(s *metrics.StrategyResult) string {
		switch f := s.Figure(m); {
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

// tightPercent writes a share of the seeds within a cell: whole, without a
// space, and as honest at its ends as format.Percent.
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

func latencyCell(s *metrics.StrategyResult) string {
	f := s.Figure(metrics.LatencyP99)
	if f.Mean == nil {
		return meanText(f)
	}
	return format.Time(*f.Mean, f.Vary())
}

func successCell(s *metrics.StrategyResult) string {
	f := s.Figure(metrics.SuccessRate)
	if f.Mean == nil {
		return meanText(f)
	}
	return format.Percent(*f.Mean)
}
