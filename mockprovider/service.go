package mockprovider

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
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

// Validate says what is wrong with the service times.
func (s *Service) Validate() error {
	f := &s.First
	switch {
	case f.Mean < 0 || f.Low < 0 || s.PerToken < 0:
		return errors.New("times must not be negative")
	case f.High < f.Low:
		return fmt.Errorf("%v to %v is not a range of times", f.Low, f.High)
	case !(f.CV >= 0) || math.IsInf(f.CV, 1):
		return fmt.Errorf("%g is no coefficient of variation", f.CV)
	}
	return nil
}

// Time returns the service time of r. It belongs to the call: whatever a
// strategy does, the same call costs the same. It is at most longest.
func (s *Service) Time(rnd draw.Rand, r *wire.Request) time.Duration {
	t := min(s.First.Draw(rnd.For(r.Call), 0), longest)
	if s.PerToken == 0 {
		return t
	}
	hi, lo := bits.Mul64(uint64(r.Demand.OutputTokens), uint64(s.PerToken))
	if hi > 0 || lo > uint64(longest) {
		return longest
	}
	return min(t+time.Duration(lo), longest)
}

// Mean returns the mean service time for calls of the given mean output
// length in tokens.
func (s *Service) Mean(outputTokens float64) time.Duration {
	tokens := float64(outputTokens * float64(s.PerToken))
	if !(tokens < float64(longest)) {
		return longest
	}
	return min(min(s.First.Average(), longest)+time.Duration(max(tokens, 0)), longest)
}
