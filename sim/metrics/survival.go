package metrics

import (
	"math"
	"time"
)

// Bound says what is known of a quantile.
type Bound uint8

// The bounds.
const (
	// Exact is a quantile that calls still waiting at the end do not change.
	Exact Bound = iota
	// AtLeast is a quantile that is at least the value given: calls that were
	// still waiting decide it.
	AtLeast
	// NotReached is a quantile that does not exist: too many calls failed.
	NotReached
)

// Survival is the distribution of the latency of all calls of a run: of those that
// were answered, of those that were still waiting when the run ended, which take at
// least their age, and of those that failed, which are never answered.
//
// Quantiles follow E. Kaplan and P. Meier, "Nonparametric Estimation from Incomplete
// Observations", Journal of the American Statistical Association 53, 1958: a waiting
// call says as much as its age does, and no more. Without waiting calls they are
// those of the list of all latencies.
type Survival struct {
	Answered, Waiting Histogram
	Failed            uint64
}

// Count returns the number of calls.
func (s *Survival) Count() uint64 { return s.Answered.Count() + s.Waiting.Count() + s.Failed }

// Quantile returns the latency that a share q of the calls do not exceed, and what
// is known of it. It is 0 and NotReached if there are no calls.
func (s *Survival) Quantile(q float64) (time.Duration, Bound) {
	if s.Count() == 0 {
		return 0, NotReached
	}
	if d, ok := s.quantile(q, false); ok {
		return d, Exact
	}
	if s.Waiting.Count() > 0 {
		if d, ok := s.quantile(q, true); ok {
			return d, AtLeast
		}
	}
	return 0, NotReached
}

// quantile walks through the buckets of both histograms. If ages is set, waiting
// calls count as answered at their age. It reports whether a share q is reached.
func (s *Survival) quantile(q float64, ages bool) (time.Duration, bool) {
	const tolerance = 1e-12 // of a share that is a product of many factors
	atRisk := float64(s.Count())
	waits := 1.0 // share of the calls that take longer than the buckets so far
	for i := range max(len(s.Answered.counts), len(s.Waiting.counts)) {
		answered, waiting := s.Answered.at(i), s.Waiting.at(i)
		if answered+waiting == 0 {
			continue
		}
		gone := float64(answered)
		mean := s.Answered.mean(i)
		if ages {
			gone += float64(waiting)
			if answered == 0 {
				mean = s.Waiting.mean(i)
			}
		}
		if gone > 0 {
			waits = float64(waits * (1 - gone/atRisk))
			if 1-waits >= q-tolerance {
				return mean, true
			}
		}
		atRisk -= float64(answered + waiting)
	}
	return 0, false
}

// at returns the count of bucket i.
func (h *Histogram) at(i int) uint64 {
	if i < len(h.counts) {
		return h.counts[i]
	}
	return 0
}

// mean returns the mean of the durations in bucket i, which is exact for one
// duration and unbiased for many; 0 if there are none.
func (h *Histogram) mean(i int) time.Duration {
	n := h.at(i)
	if n == 0 {
		return 0
	}
	return lowerBound(i) + time.Duration(math.Round(float64(h.above[i])/float64(n)))
}

// lowerBound returns the smallest duration that bucket i counts.
func lowerBound(i int) time.Duration {
	if i == 0 {
		return 0
	}
	return upperBound(i-1) + 1
}
