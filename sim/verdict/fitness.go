package verdict

import (
	"math"

	"herdlab/sim/metrics"
)

// Answer is what a bound says of a strategy.
type Answer uint8

// The answers.
const (
	// Undecided means that these seeds do not tell.
	Undecided Answer = iota
	Fit
	Unfit
	// NotJudged means that the bound does not apply.
	NotJudged
)

// Fitness is whether a strategy may win, and why not.
//
// Success compares the share of calls that are answered usefully with the bound. A
// strategy is fit if the share keeps the bound and so does its interval, or if no
// call was lost on any seed; unfit if the whole interval is below; and undecided
// otherwise. The lower bound of the success of each run decides whether it is fit,
// the upper bound whether it is unfit: see metrics.Outcomes.
//
// Peak compares the mean of the herd peak, and its interval, with the bound
// likewise.
type Fitness struct {
	Success, Peak Answer
	// Lower and Upper are the shares if no undetermined call is answered, and if
	// all are.
	Lower, Upper Proportion
	// LostNone reports that every judged call was answered, on every seed.
	LostNone bool
	// Seeds is about the number of seeds that it takes to decide, 0 if it is
	// decided or if more seeds do not help. Horizon is about how long, in seconds,
	// the run would have to be for the undetermined calls to be settled; 0 if they
	// do not matter.
	Seeds   int
	Horizon float64
	// Fewer reports that the strategy answers significantly fewer calls than
	// another fit one, though its clients never stop calling.
	Fewer bool
	// AllFail reports that every call fails, on every seed. SilentLosses, Failed and
	// Overdue report that calls are lost in this way on some seed.
	AllFail, SilentLosses, Failed, Overdue bool
}

// Answer returns whether the strategy is fit by all bounds.
func (f *Fitness) Answer() Answer {
	switch {
	case f.Success == Unfit || f.Peak == Unfit || f.Fewer:
		return Unfit
	case f.Success == Undecided || f.Peak == Undecided:
		return Undecided
	}
	return Fit
}

// OverPeak reports that the herd peak exceeds the bound.
func (f *Fitness) OverPeak() bool { return f.Peak == Unfit }

// LosesCalls reports that more calls are lost than the bound allows.
func (f *Fitness) LosesCalls() bool { return f.Success == Unfit }

// fitness judges one strategy.
func fitness(s *metrics.StrategyResult, r *Rules) Fitness {
	failed := s.Estimate(metrics.FailedCalls)
	f := Fitness{
		AllFail:      EqualOnAllSeeds(s.Estimate(metrics.Calls), failed),
		SilentLosses: positive(s.Estimate(metrics.SilentLosses)),
		Failed:       positive(failed),
		Overdue:      positive(s.Estimate(metrics.OverdueCalls)),
	}
	f.judgeSuccess(s, r.MinSuccess)
	f.judgePeak(s, r.MaxPeak)
	return f
}

// Success returns the share of the judged calls that are answered usefully if no
// undetermined call is.
func Success(s *metrics.StrategyResult) Proportion {
	return proportion(valuesOf(s, metrics.JudgedCalls), valuesOf(s, metrics.SuccessLower))
}

func (f *Fitness) judgeSuccess(s *metrics.StrategyResult, bound float64) {
	calls := valuesOf(s, metrics.JudgedCalls)
	f.Lower = Success(s)
	f.Upper = proportion(calls, valuesOf(s, metrics.SuccessUpper))
	f.LostNone = f.Lower.Estimate == 1
	undetermined := f.Upper.Estimate > f.Lower.Estimate
	switch {
	case math.IsNaN(f.Lower.Estimate): // no calls
	case f.LostNone, f.Lower.Estimate >= bound && f.Lower.Lo >= bound:
		f.Success = Fit
	case f.Upper.Hi < bound:
		f.Success = Unfit
	case undetermined && f.Lower.Estimate < bound && f.Upper.Estimate >= bound:
		f.Horizon = horizonNeeded(s)
	default:
		f.Seeds = seedsNeeded(len(calls), f.Lower.Estimate, bound, f.Lower.Lo, f.Lower.Hi)
	}
}

func (f *Fitness) judgePeak(s *metrics.StrategyResult, bound float64) {
	peak := s.Estimate(metrics.HerdPeakOfCapacity)
	switch {
	case peak.Mean == nil:
		f.Peak = NotJudged
	case peak.Lo == nil || peak.Hi == nil: // one seed
		f.Peak = Fit
		if *peak.Mean > bound {
			f.Peak = Unfit
		}
	case *peak.Hi <= bound:
		f.Peak = Fit
	case *peak.Lo > bound:
		f.Peak = Unfit
	default:
		f.Seeds = max(f.Seeds, seedsNeeded(len(peak.PerSeed), *peak.Mean, bound, *peak.Lo, *peak.Hi))
	}
}

// seedsNeeded returns about the number of seeds with which an interval around the
// estimate would no longer hold the bound: intervals shrink with the square root of
// the number of seeds. It is at most a million, and 0 if the estimate is the bound.
func seedsNeeded(seeds int, estimate, bound, lo, hi float64) int {
	half := estimate - lo
	if estimate < bound {
		half = hi - estimate
	}
	ratio := half / math.Abs(estimate-bound)
	if n := math.Ceil(float64(seeds) * float64(ratio*ratio)); n <= 1_000_000 {
		return max(int(n), seeds+1)
	}
	return 0
}

// horizonNeeded returns about how long a run must be, in seconds, for calls that
// wait to be answered or to count as failed: see metrics.Outcomes.
func horizonNeeded(s *metrics.StrategyResult) float64 {
	longest := s.Estimate(metrics.LongestWait)
	if longest.Mean == nil {
		return 0
	}
	return float64(11 * *longest.Mean)
}

func valuesOf(s *metrics.StrategyResult, m metrics.Metric) []float64 {
	f := s.Estimate(m)
	return f.Values()
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
