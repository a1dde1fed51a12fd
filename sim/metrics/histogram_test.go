package metrics

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/sim/draw"
)

// A quantile is that of the sorted data, up to the width of a bucket.
func TestQuantilesAgreeWithSortedData(t *testing.T) {
	r := draw.New(7)
	for name, next := range map[string]func(i uint64) time.Duration{
		"exponential": func(i uint64) time.Duration { return r.Exp(i, 3*time.Second) },
		"even":        func(i uint64) time.Duration { return r.Uniform(i, 0, time.Minute) },
		"tiny":        func(i uint64) time.Duration { return r.Uniform(i, 0, 256) },
		"log-even": func(i uint64) time.Duration {
			return time.Duration(math.Exp(r.Float(i) * math.Log(float64(math.MaxInt64))))
		},
	} {
		var h Histogram
		sorted := make([]time.Duration, 10_000)
		for i := range sorted {
			sorted[i] = next(uint64(i))
			h.Add(sorted[i])
		}
		slices.Sort(sorted)
		for _, q := range []float64{0, 0.0001, 0.01, 0.07, 0.5, 0.9, 0.95, 0.99, 0.999, 1} {
			exact := sorted[max(1, int(math.Round(q*10_000)))-1]
			got := h.Quantile(q)
			assert.InDelta(t, float64(exact), float64(got), 0.008*float64(exact), "%s %v: %v for %v", name, q, got, exact)
			if exact < 256 {
				assert.Equal(t, exact, got, "%s %v", name, q)
			}
		}
		assert.Equal(t, sorted[len(sorted)-1], h.Quantile(1), name)
	}
}

// Each duration lies in its bucket, and buckets lie side by side.
func TestBucketsTile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "d") >> rapid.IntRange(0, 62).Draw(t, "shift"))
		i := bucketOf(d)
		if upperBound(i) < d || i > 0 && upperBound(i-1) >= d {
			t.Fatalf("%d is in bucket %d, which ends at %d and begins after %d", d, i, upperBound(i), upperBound(i-1))
		}
	})
	assert.Equal(t, time.Duration(math.MaxInt64), upperBound(bucketOf(math.MaxInt64)))
}

// Whatever is added where and merged in whichever order, the histogram is that
// of all durations.
func TestMergeForgetsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Int64Range(-5, 1<<40)).Draw(t, "durations")
		shard := rapid.SliceOfN(rapid.IntRange(0, 2), len(data), len(data)).Draw(t, "shards")
		var all Histogram
		var shards [3]Histogram
		for i, d := range data {
			all.Add(time.Duration(d))
			shards[shard[i]].Add(time.Duration(d))
		}
		var merged Histogram
		for _, k := range rapid.Permutation([]int{0, 1, 2}).Draw(t, "order") {
			merged.Merge(&shards[k])
		}
		require.Equal(t, all, merged)
	})
}

func TestEmptyHistogram(t *testing.T) {
	var h Histogram
	assert.Zero(t, h.Quantile(0.5))
	assert.Zero(t, h.Count())
	h.Add(-time.Second)
	assert.Zero(t, h.Quantile(1))
	assert.EqualValues(t, 1, h.Count())
}
