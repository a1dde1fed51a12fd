package metrics

import (
	"math"
	"math/bits"
	"time"
)

// Histogram counts durations in log-linear buckets: exact below 256 ns, and
// otherwise 128 buckets to each power of two, so a quantile is at most 0.8 %
// too large and never too small. Merging is addition: the order in which values
// are added and histograms merged does not matter.
//
// The layout is that of HdrHistogram (G. Tene). The zero value is empty.
type Histogram struct {
	counts []uint64
	above  []uint64 // by bucket: the sum of the excess of its durations over its lower bound
	n      uint64
	max    time.Duration
	total  Sum128
}

const (
	subBits    = 7
	subBuckets = 1 << subBits
)

func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0))
	shift := max(0, bits.Len64(v)-subBits-1)
	return shift<<subBits + int(v>>shift)
}

// upperBound returns the largest duration that bucket i counts.
func upperBound(i int) time.Duration {
	if i < 2*subBuckets {
		return time.Duration(i)
	}
	shift := i>>subBits - 1
	return time.Duration((uint64(i-shift<<subBits)+1)<<shift - 1)
}

// Add counts d once; a negative d counts as 0.
func (h *Histogram) Add(d time.Duration) {
	i := bucketOf(d)
	if i >= len(h.counts) {
		whole := (i>>subBits + 1) << subBits // so that the length does not depend on the order
		h.grow(whole)
	}
	h.counts[i]++
	h.above[i] += uint64(max(d, 0) - lowerBound(i))
	h.n++
	h.max = max(h.max, d)
	h.total.Add(max(d, 0))
}

// grow extends the histogram to n buckets.
func (h *Histogram) grow(n int) {
	h.counts = append(h.counts, make([]uint64, n-len(h.counts))...)
	h.above = append(h.above, make([]uint64, n-len(h.above))...)
}

// Merge adds the counts of o.
func (h *Histogram) Merge(o *Histogram) {
	if len(o.counts) > len(h.counts) {
		h.grow(len(o.counts))
	}
	for i, c := range o.counts {
		h.counts[i] += c
		h.above[i] += o.above[i]
	}
	h.n += o.n
	h.max = max(h.max, o.max)
	h.total = h.total.plus(o.total)
}

// Count returns how many durations were added.
func (h *Histogram) Count() uint64 { return h.n }

// Quantile returns the duration that a share q of the durations do not exceed, as
// the mean of those that share its bucket: exact where these are equal, unbiased
// where they are not, and at most 0.4 % off. It is 0 if the histogram is empty. q is
// clamped to [0, 1].
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	// 0.07·100 is a little more than 7 in floating point, and must not be 8.
	share := min(max(q, 0), 1) * (1 - 0x1p-50)
	rank := max(1, uint64(math.Ceil(float64(share*float64(h.n)))))
	var seen uint64
	for i, c := range h.counts {
		if seen += c; seen >= rank {
			if rank == h.n {
				return h.max
			}
			return h.mean(i)
		}
	}
	return h.max
}
