package serve

import "time"

// bins is how many bins are remembered.
const maxBins = 180

// Bin is what happened in one bin of the series.
type Bin struct {
	// At is when the bin begins, in seconds on the provider's clock.
	At float64 `json:"t"`
	// Offered counts arrivals and Answered useful replies. Refused counts all
	// other ends by class: of a request that was dropped it is timeout, of a
	// broken connection disconnected.
	Offered  uint64  `json:"offered"`
	Answered uint64  `json:"answered"`
	Refused  ByClass `json:"refused"`
	// InFlight and Queued are the largest numbers that were seen.
	InFlight int `json:"in_flight"`
	Queued   int `json:"queued"`
}

// series is the last bins, a ring.
type series struct {
	width            time.Duration
	ring             [maxBins]Bin
	last             int64 // the number of the newest bin, from 0
	inFlight, queued int   // now
}

// at returns the bin of a time that is not before an earlier one.
func (s *series) at(now time.Duration) *Bin {
	n := int64(now / s.width)
	if n-s.last >= maxBins {
		s.last = n - maxBins
	}
	for ; s.last < n; s.last++ {
		s.ring[(s.last+1)%maxBins] = Bin{InFlight: s.inFlight, Queued: s.queued} // as the last one ended
	}
	return &s.ring[n%maxBins]
}

// note notes how many requests are under way and queued.
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
