package verdict

import (
	"math"

	"herdlab/sim/metrics"
)

// DefaultMaxPeak is the default bound on the peak after the last fault, ×
// capacity.
const DefaultMaxPeak = 5.0

// Fitness is what disqualifies a strategy; the zero value is fit to win.
//
// A fit strategy loses no call on any seed, and its peak after the last fault,
// in the mean over the seeds, is at most the bound × capacity. The bound does
// not apply without a capacity or without a fault. The mean is judged and not
// the worst seed, because the worst of many seeds is worse than that of few: a
// verdict must not depend on the number of seeds. Of the calls that are pending
// when a run is cut off, the overdue ones count as lost.
type Fitness struct {
	// AllFail reports that every call fails, on every seed.
	AllFail bool
	// SilentLosses, Failed and Overdue report that calls are lost in this way on
	// some seed.
	SilentLosses, Failed, Overdue bool
	// OverPeak reports that the peak exceeds the bound.
	OverPeak bool
}

// Fit reports whether the strategy may win.
func (f Fitness) Fit() bool { return f == Fitness{} }

// LosesCalls reports whether calls are lost on some seed.
func (f Fitness) LosesCalls() bool { return f.AllFail || f.SilentLosses || f.Failed || f.Overdue }

// fitness judges one strategy under a bound on its peak, × capacity.
func fitness(s *metrics.StrategyResult, maxPeak float64) Fitness {
	calls, failed := s.Estimate(metrics.Calls), s.Estimate(metrics.FailedCalls)
	return Fitness{
		AllFail:      EqualOnAllSeeds(calls, failed),
		SilentLosses: positive(s.Estimate(metrics.SilentLosses)),
		Failed:       positive(failed),
		Overdue:      positive(s.Estimate(metrics.OverdueCalls)),
		OverPeak:     meanOf(s, metrics.PeakAfterOfCapacity) > maxPeak,
	}
}

// EqualOnAllSeeds reports whether a and b have the same positive value on each
// seed.
func EqualOnAllSeeds(a, b metrics.Estimate) bool {
	for i, x := range a.PerSeed {
		if i >= len(b.PerSeed) || x == nil || b.PerSeed[i] == nil || *x != *b.PerSeed[i] || *x == 0 {
			return false
		}
	}
	return len(a.PerSeed) > 0
}

func positive(f metrics.Estimate) bool { return f.Mean != nil && *f.Mean > 0 }

// meanOf returns the mean of m, NaN if there is none.
func meanOf(s *metrics.StrategyResult, m metrics.Metric) float64 {
	if f := s.Estimate(m); f.Mean != nil {
		return *f.Mean
	}
	return math.NaN()
}
