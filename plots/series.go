package plots

import "math"

// series are counts in bins of equal width: bin i covers the width seconds from
// start + i·width.
type series struct {
	start, width float64
	counts       []uint32
}

// lastActive is the end of the last bin that is not empty, or start.
func (s series) lastActive() float64 {
	n := len(s.counts)
	for n > 0 && s.counts[n-1] == 0 {
		n--
	}
	return s.start + float64(n)*s.width
}

// peak returns the highest rate per second of the bins that begin at from or
// later, and when that bin begins; 0 if there is none.
func (s series) peak(from float64) (rate, at float64) {
	var most uint32
	for i, c := range s.counts {
		// Half a bin of tolerance: the edge at from is a sum of roundings.
		if t := s.start + float64(i)*s.width; c > most && t >= from-s.width/2 {
			most, at = c, t
		}
	}
	return float64(most) / s.width, at
}

// at returns the rate per second of the bin that begins at t; 0 if there is
// none.
func (s series) at(t float64) float64 {
	i := math.Round((t - s.start) / s.width)
	if !(i >= 0 && i < float64(len(s.counts))) {
		return 0
	}
	return float64(s.counts[int(i)]) / s.width
}

// columns returns the rate per second for each of n columns of pixels between
// two times: the highest of the bins that touch the column, so that a peak of
// one bin among thousands still shows.
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
		// A bin that ends a rounding error after a column does not touch it.
		first, last := int(max(left+1e-6, 0)), int(min(math.Ceil(right-1e-6), float64(n)))
		for x := first; x < max(last, first+1) && x < n; x++ {
			out[x] = max(out[x], rate)
		}
	}
	return out
}

// bars are rates per second in bins of several original bins each.
type bars struct {
	from, to []float64
	rate     []float64
}

// rebin adds up k bins at a time, aligned so that edge, if it is the edge of a
// bin, stays one. A bin that the series or the horizon cuts short is divided by
// the time that it really covers; horizon 0 means that there is none.
func (s series) rebin(k int, edge, horizon float64) bars {
	var b bars
	if len(s.counts) == 0 {
		return b
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
		// Nothing happens before 0, but a rate over a sliver of a bin says nothing.
		from = max(from, min(0, to-s.width))
		if from < to { // as it is, unless widths vanish beside times
			b.from, b.to = append(b.from, from), append(b.to, to)
			b.rate = append(b.rate, sum/(to-from))
		}
	}
	return b
}

// columns draws the bins onto n columns of pixels between two times, each
// column by the bin at its middle.
func (b bars) columns(from, to float64, n int) []float64 {
	out := make([]float64, n)
	i := 0
	for x := range out {
		t := from + (float64(x)+0.5)*(to-from)/float64(n)
		for i < len(b.to) && b.to[i] <= t {
			i++
		}
		if i < len(b.to) && b.from[i] <= t {
			out[x] = b.rate[i]
		}
	}
	return out
}
