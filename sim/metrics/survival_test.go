package metrics

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Without waiting calls, a quantile is that of the sorted list of all latencies,
// within the resolution of a bucket, and does not exist where it meets a failure.
func TestSurvivalIsTheSortedListWithoutWaitingCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Survival
		var all []time.Duration
		for range rapid.IntRange(1, 50).Draw(t, "answered") {
			d := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "latency"))
			s.Answered.Add(d)
			all = append(all, d)
		}
		s.Failed = uint64(rapid.IntRange(0, 20).Draw(t, "failed"))
		slices.Sort(all)
		q := rapid.SampledFrom([]float64{0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1}).Draw(t, "q")
		rank := int(math.Ceil(q*float64(s.Count()) - 1e-9))
		got, bound := s.Quantile(q)
		if rank > len(all) {
			require.Equal(t, NotReached, bound)
			return
		}
		require.Equal(t, Exact, bound)
		want := all[rank-1]
		require.Equal(t, bucketOf(want), bucketOf(got))
	})
}

// A quantile with waiting calls agrees with Kaplan and Meier's product over the
// distinct times, written from the paper.
func TestSurvivalAgreesWithTheProductFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type observation struct {
			at       int
			answered bool
		}
		var s Survival
		var all []observation
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			o := observation{rapid.IntRange(0, 20).Draw(t, "at"), rapid.Bool().Draw(t, "answered")}
			all = append(all, o)
			if o.answered {
				s.Answered.Add(time.Duration(o.at)) // buckets below 256 ns are exact
			} else {
				s.Waiting.Add(time.Duration(o.at))
			}
		}
		s.Failed = uint64(rapid.IntRange(0, 5).Draw(t, "failed"))
		q := rapid.SampledFrom([]float64{0.1, 0.5, 0.9, 0.99}).Draw(t, "q")
		want, found := 0, false
		survival := 1.0
		for at := 0; at <= 20 && !found; at++ {
			answered, atRisk := 0, int(s.Failed)
			for _, o := range all {
				if o.at >= at {
					atRisk++
				}
				if o.at == at && o.answered {
					answered++
				}
			}
			if answered > 0 {
				survival *= 1 - float64(answered)/float64(atRisk)
				want, found = at, 1-survival >= q-1e-9
			}
		}
		got, bound := s.Quantile(q)
		require.Equal(t, found, bound == Exact)
		if found {
			require.Equal(t, time.Duration(want), got)
		}
	})
}

func TestSurvivalOfCallsThatWait(t *testing.T) {
	var s Survival
	for range 90 {
		s.Answered.Add(time.Second)
	}
	for range 10 {
		s.Waiting.Add(299 * time.Second)
	}
	d, bound := s.Quantile(0.5)
	require.Equal(t, time.Second, d)
	require.Equal(t, Exact, bound)
	d, bound = s.Quantile(0.99)
	require.Equal(t, 299*time.Second, d)
	require.Equal(t, AtLeast, bound)
	s.Failed = 200
	_, bound = s.Quantile(0.5)
	require.Equal(t, NotReached, bound)
}

// The estimate of a quantile is exact where all durations of its bucket are the
// same, and never outside the bucket.
func TestQuantilesAreUnbiasedWithinTheirBucket(t *testing.T) {
	var s Survival
	for range 1000 {
		s.Answered.Add(1078 * time.Millisecond)
	}
	d, _ := s.Quantile(0.5)
	require.Equal(t, 1078*time.Millisecond, d)
}
