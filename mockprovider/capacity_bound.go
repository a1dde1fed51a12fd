package mockprovider

import "time"

// quickest is the shortest mean service time that any model has for calls of
// those mean lengths in tokens.
func (c *Config) quickest(inputTokens, outputTokens float64) time.Duration {
	mean := c.CapacityOf(0).Service.Mean(inputTokens, outputTokens)
	for i := 1; i < len(c.Models); i++ {
		mean = min(mean, c.CapacityOf(i).Service.Mean(inputTokens, outputTokens))
	}
	return mean
}

// served is the bound of all slots: each station's as many as it has at the
// best of times, without load curves.
func (c *Config) served(load *Load) Bound {
	space := c.FullSpace()
	var sum Bound
	for m := range max(space.Models, 1) {
		for r := range max(space.Regions, 1) {
			b := c.servedAt(m, r, load)
			if b == (Bound{}) {
				return b
			}
			if m+r > 0 {
				b = sum.Plus(b)
			}
			sum = b
		}
	}
	return sum
}

// servedAt is the bound of one station.
func (c *Config) servedAt(model, region int, load *Load) Bound {
	s := c.station(model, region)
	if s.Slots == 0 {
		return Bound{}
	}
	mean := load.MeanService
	if len(c.Models) > 0 {
		mean = s.Service.Mean(load.MeanInput, load.MeanOutput)
	}
	if s.unit > 0 { // many slots for a while are one for longer
		units := max(1, float64((load.MeanInput+load.MeanOutput)/float64(s.unit)))
		mean = time.Duration(min(float64(float64(mean)*units), float64(longest)))
	}
	return Parallel(int64(s.most), mean)
}

// atBest is how many slots there are at most for our requests, at least 1.
func (s *station) atBest() int {
	if s.Slots == 0 {
		return unbounded
	}
	base := s.Slots
	if s.Autoscale != nil {
		base = s.Autoscale.Max
	}
	_, day := s.Day.span(1)
	free := 1.0
	for _, o := range s.others {
		taken, _ := o.span(0)
		free = float64(free * (1 - taken))
	}
	return max(1, share(share(base, float64(s.scale*day), 100), free, 100))
}
