package limits

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
)

// Semaphore is a concurrency limit: at most Limit requests in flight, those in
// the queue included. With a Charge in tokens it is a pool of tokens in flight,
// which refuses heavy requests more often than light ones. A permit belongs to
// work: whatever becomes of it, all of it comes back at the end.
type Semaphore struct {
	Limit int32 `unit:"requests" least:"1" required:"20" about:"How many requests, or units of the charge, may be in flight."`
	mockprovider.Terms
}

// Validate implements Limit.
func (s Semaphore) Validate() error {
	if s.Limit < 1 {
		return errors.New("semaphore: the limit must be at least 1")
	}
	if err := s.Terms.Validate(); err != nil {
		return fmt.Errorf("semaphore: %w", err)
	}
	if c := s.Charge; c.When != mockprovider.AtAdmission || c.Failed != mockprovider.AsServed || c.Cancelled != mockprovider.AsServed {
		return errors.New("semaphore: permits are taken at admission and all come back; leave out when, failed and cancelled")
	}
	return nil
}

// Bound implements Limit: permits ÷ mean service time.
func (s Semaphore) Bound(load mockprovider.Load) mockprovider.Bound {
	n := saturating.Mul(int64(s.Limit), int64(s.Counters(load.Space)))
	if s.Charge.Count != mockprovider.Requests {
		mean := s.Charge.Mean(&load)
		if mean <= 0 {
			return mockprovider.Bound{}
		}
		n = max(1, int64(float64(n)/mean))
	}
	return mockprovider.Parallel(n, load.MeanService)
}

// Unpredictable implements the interface of that name: the limit does not know
// when a permit comes back.
func (Semaphore) Unpredictable() {}

// Gate implements Limit.
func (s Semaphore) Gate(space mockprovider.Space) mockprovider.Gate {
	g := &semaphore{meter: newMeter(&s.Terms, s.Limit, space), used: make([]int32, s.Counters(space))}
	g.class = wire.Concurrency
	return g
}

type semaphore struct {
	meter
	used []int32
}

// Take implements Gate.
func (s *semaphore) Take(_ time.Duration, r *wire.Request) bool {
	u := &s.used[s.Of(r)]
	if *u < s.quick { // the usual case
		*u++
		return true
	}
	n := s.cost(r)
	if room(n) > s.limit-*u {
		return false
	}
	*u += n
	return true
}

// Refuse implements Gate. It is not known when a permit will be free, so hints
// other than constant ones are left out.
func (s *semaphore) Refuse(_ time.Duration, r *wire.Request) mockprovider.Verdict {
	return s.verdict(r, s.limit, max(0, s.limit-s.used[s.Of(r)]), unknown, 0)
}

// Undo implements Gate. A permit comes back whatever else is kept: no work
// holds it.
func (s *semaphore) Undo(_ time.Duration, r *wire.Request) { s.used[s.Of(r)] -= s.cost(r) }

// Release implements Gate.
func (s *semaphore) Release(_ time.Duration, r *wire.Request, _ mockprovider.Ended) {
	s.used[s.Of(r)] -= s.cost(r)
}

// Standing implements StandingReporter.
func (s *semaphore) Standing(_ time.Duration, r *wire.Request) mockprovider.Standing {
	return s.standing(s.used[s.Of(r)], 0)
}

// Scale implements Scaler. Those in flight stay.
func (s *semaphore) Scale(_ time.Duration, percent int32) { s.scale(percent) }

// Forget implements Forgetter.
func (s *semaphore) Forget(account uint32) {
	mockprovider.ForgetAccount(&s.CounterIndex, account, s.used)
}
