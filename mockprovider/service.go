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
	// First is the time to first token but for PerInput, or the whole time where
	// nothing depends on tokens. It may be constant, exponential, lognormal or,
	// from a table, empirical.
	First draw.Dist `key:"first_token" required:"300ms" about:"The time to the first token, without what input tokens add."`
	// PerInput is what each input token adds to it: the prefill.
	PerInput time.Duration `key:"per_input_token" default:"0s" about:"What each input token adds to it."`
	// PerToken is the inter-token latency, counted for each output token.
	PerToken time.Duration `key:"per_output_token" required:"20ms" about:"The time for each output token."`
	// PerAttempt draws First for each attempt: whether it is slow is luck, and a
	// second one may have better. Otherwise it belongs to the call: whatever a
	// strategy does, the same call costs the same, and no hedge is faster.
	PerAttempt bool `about:"Whether first_token is drawn for each attempt, so that another attempt of the same call may be faster."`
}

// Validate reports an error if the service times are invalid.
func (s *Service) Validate() error {
	f := &s.First
	switch {
	case f.Mean < 0 || f.Low < 0 || s.PerInput < 0 || s.PerToken < 0:
		return errors.New("times must not be negative")
	case f.High < f.Low:
		return fmt.Errorf("%v to %v is not a range of times", f.Low, f.High)
	case !(f.CV >= 0) || math.IsInf(f.CV, 1):
		return fmt.Errorf("%g is no coefficient of variation", f.CV)
	}
	return nil
}

// work works out what serving r takes. Times are at most longest.
func (s *Service) work(rnd draw.Rand, r *wire.Request, w *Work) {
	rnd = rnd.For(r.Call)
	if s.PerAttempt {
		rnd = rnd.For(uint64(r.Attempt))
	}
	w.Head = min(s.First.Draw(rnd, 0), longest)
	w.Tokens, w.Withheld = r.Demand.Output(), 0
	if s.PerInput > 0 {
		w.Head = min(w.Head+each(r.Demand.InputTokens, s.PerInput), longest)
	}
	w.Whole = w.Head
	if s.PerToken > 0 {
		w.Whole = min(w.Whole+each(w.Tokens, s.PerToken), longest)
	}
}

// Time returns the service time of r, load and faults aside.
func (s *Service) Time(rnd draw.Rand, r *wire.Request) time.Duration {
	var w Work
	s.work(rnd, r, &w)
	return w.Whole
}

// expected is the mean service time of requests of that size.
func (s *Service) expected(d *wire.Demand) time.Duration {
	return s.Mean(float64(d.InputTokens), float64(d.Output()))
}

// Mean returns the mean service time for calls of the given mean lengths of
// prompt and answer in tokens.
func (s *Service) Mean(inputTokens, outputTokens float64) time.Duration {
	tokens := float64(inputTokens*float64(s.PerInput)) + float64(outputTokens*float64(s.PerToken))
	if !(tokens < float64(longest)) {
		return longest
	}
	return min(min(s.First.Average(), longest)+time.Duration(max(tokens, 0)), longest)
}

// each is how long n tokens take, at most longest.
func each(n uint32, one time.Duration) time.Duration {
	hi, lo := bits.Mul64(uint64(n), uint64(one))
	if hi > 0 || lo > uint64(longest) {
		return longest
	}
	return time.Duration(lo)
}
