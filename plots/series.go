package plots

import "math"

// series has counts in bins of equal width: bin i covers width seconds from
// start + i·width.
type series struct {
	start, width float64
	counts       []uint32
}

// lastActive returns the end of the last bin that is not empty, or start.
func (s series) lastActive() float64 {
	n := len(s.counts)
	for n > 0 && s.counts[n-1] == 0 {
		n--
	}
	return s.start + float64(n)*s.width
}

// peak returns the highest rate per second of the bins that begin at from or
// later, and the start of that bin. The rate is 0 without such bins.
func (s series) peak(from float64) (rate, at float64) {
	var most uint32
	for i, c := range s.counts {
		// Half a bin of tolerance, because the edges of bins are rounded.
		if t := s.start + float64(i)*s.width; c > most && t >= from-s.width/2 {
			most, at = c, t
		}
	}
	return float64(most) / s.width, at
}

// at returns the rate per second of the bin that begins at t, or 0 without such a
// bin.
func (s series) at(t float64) float64 {
	i := math.Round((t - s.start) / s.width)
	if !(i >= 0 && i < float64(len(s.counts))) {
		return 0
	}
	return float64(s.counts[int(i)]) / s.width
}

// columns returns the rate per second for each of n columns of pixels between
// two times. It is the highest rate of the bins that touch the column, so that a
// peak in one bin of thousands is visible.
func (s series) columns(from, to float64, n int) []float64 {
	out := make([]float64, n)
	per := float64(n) / (to - from)
	for i, c := range s.counts {
		if c == 0 {
			continue
		}
		left := (s.start + float64(i)*s.width - from) * per
		right := left + s.width*per
		if right <= 0 || left >= float64(n) {
			continue
		}
		rate := float64(c) / s.width
		// A bin does not touch a column if they overlap by a rounding error.
		first, last := int(max(left+1e-6, 0)), int(min(math.Ceil(right-1e-6), float64(n)))
		for x := first; x < max(last, first+1) && x < n; x++ {
			out[x] = max(out[x], rate)
		}
	}
	return out
}

// rates has rates per second in wider bins, each made of several original bins.
type rates struct {
	from, to []float64
	rate     []float64
}

// rebin joins k bins at a time. If edge is the edge of an original bin, it is the
// edge of a wider one. The count of a bin that begins before the run or ends after
// the horizon is divided by the time that it covers; horizon 0 means no horizon.
func (s series) rebin(k int, edge, horizon float64) rates {
	var r rates
	if len(s.counts) == 0 {
		return r
	}
	// The first group is short if the edge does not fall on a multiple of k.
	i := int(math.Mod(math.Round((edge-s.start)/s.width), float64(k)))
	if i <= 0 {
		i += k
	}
	for j := 0; j < len(s.counts); j, i = i, i+k {
		var sum float64
		for _, c := range s.counts[j:min(i, len(s.counts))] {
			sum += float64(c)
		}
		from, to := s.start+float64(j)*s.width, s.start+float64(i)*s.width
		if horizon > max(from, 0) {
			to = min(to, horizon)
		}
		// The run begins at 0, but a rate over a small part of a bin is meaningless.
		from = max(from, min(0, to-s.width))
		if from < to { // false only if rounding makes the width 0
			r.from, r.to = append(r.from, from), append(r.to, to)
			r.rate = append(r.rate, sum/(to-from))
		}
	}
	return r
}

// columns returns the rate per second for each of n columns of pixels between two
// times: that of the bin at the middle of the column.
func (r rates) columns(from, to float64, n int) []float64 {
	out := make([]float64, n)
	i := 0
	for x := range out {
		t := from + (float64(x)+0.5)*(to-from)/float64(n)
		for i < len(r.to) && r.to[i] <= t {
			i++
		}
		if i < len(r.to) && r.from[i] <= t {
			out[x] = r.rate[i]
		}
	}
	return out
}
