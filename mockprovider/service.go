package mockprovider

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Service is how long an accepted request holds its slot: a time to first
// token, plus a time for each output token.
type Service struct {
	// First is the time to first token, or the whole time where PerToken is 0.
	First draw.Dist
	// PerToken is the inter-token latency, counted for each output token.
	PerToken time.Duration
}

// Time returns the service time of r. It belongs to the call: whatever a
// strategy does, the same call costs the same.
func (s *Service) Time(rnd draw.Rand, r *wire.Request) time.Duration {
	return s.First.Draw(rnd.For(r.Call), 0) + time.Duration(r.Demand.OutputTokens)*s.PerToken
}

// Mean returns the mean service time for calls of the given mean output
// length in tokens.
func (s *Service) Mean(outputTokens float64) time.Duration {
	return s.First.Average() + time.Duration(outputTokens*float64(s.PerToken))
}
