package serve

import "time"

// maxBins is the number of bins that are kept.
const maxBins = 180

// Bin counts the events of one bin of the series.
type Bin struct {
	// At is the beginning of the bin, in seconds on the provider's clock.
	At float64 `json:"t"`
	// Offered counts arrivals, Answered counts useful replies. Refused counts all
	// other ends by class; dropped requests as timeout, and lost connections as
	// disconnected.
	Offered  uint64  `json:"offered"`
	Answered uint64  `json:"answered"`
	Refused  ByClass `json:"refused"`
	// InFlight and Queued are the maxima within the bin.
	InFlight int `json:"in_flight"`
	Queued   int `json:"queued"`
}

// series is a ring of the last bins.
type series struct {
	width            time.Duration
	ring             [maxBins]Bin
	last             int64 // number of the newest bin, from 0
	inFlight, queued int   // current values
}

// at returns the bin of a time; times must not decrease.
func (s *series) at(now time.Duration) *Bin {
	n := int64(now / s.width)
	if n-s.last >= maxBins {
		s.last = n - maxBins
	}
	for ; s.last < n; s.last++ {
		s.ring[(s.last+1)%maxBins] = Bin{InFlight: s.inFlight, Queued: s.queued} // the values at the end of the bin before
	}
	return &s.ring[n%maxBins]
}

// observe records the numbers of requests in flight and queued.
func (s *series) observe(now time.Duration, inFlight, queued int) {
	b := s.at(now)
	s.inFlight, s.queued = inFlight, queued
	b.InFlight, b.Queued = max(b.InFlight, inFlight), max(b.Queued, queued)
}

// list returns the bins up to now, oldest first.
func (s *series) list(now time.Duration) []Bin {
	s.at(now)
	first := max(0, s.last-maxBins+1)
	all := make([]Bin, 0, maxBins)
	for n := first; n <= s.last; n++ {
		b := s.ring[n%maxBins]
		b.At = (time.Duration(n) * s.width).Seconds()
		all = append(all, b)
	}
	return all
}
