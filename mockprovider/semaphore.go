package mockprovider

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// Semaphore is a concurrency limit: at most Limit requests in flight, those in
// the queue included.
type Semaphore struct {
	Limit int32
	Terms
}

// Validate implements Limit.
func (s Semaphore) Validate() error {
	if s.Limit < 1 {
		return errors.New("semaphore: the limit must be at least 1")
	}
	if err := s.Terms.validate(); err != nil {
		return fmt.Errorf("semaphore: %w", err)
	}
	return nil
}

// Bound implements Limit: permits ÷ mean service time.
func (s Semaphore) Bound(load Load) Bound {
	return parallel(int64(s.Limit)*int64(s.Per.keys(load.Space)), load.MeanService)
}

// Gate implements Limit.
func (s Semaphore) Gate(space Space) Gate {
	return &semaphore{Semaphore: s, keying: s.Per.keying(space), used: make([]int32, s.Per.keys(space))}
}

type semaphore struct {
	Semaphore
	keying
	used []int32
}

// Take implements Gate.
func (s *semaphore) Take(_ time.Duration, r *wire.Request) bool {
	u := &s.used[s.of(r)]
	if *u >= s.Limit {
		return false
	}
	*u++
	return true
}

// Refuse implements Gate. Nobody knows when a permit will be free, so hints
// other than constant ones are left out.
func (s *semaphore) Refuse(now time.Duration, r *wire.Request, to *wire.Reply) {
	s.Refusal.reply(to, wire.Concurrency, wire.NoHint, s.Limit, s.Limit-s.used[s.of(r)])
}

// Undo implements Gate. A permit comes back whether it is to be kept or not: no
// work holds it.
func (s *semaphore) Undo(_ time.Duration, r *wire.Request, _ bool) { s.used[s.of(r)]-- }

// Release implements Gate.
func (s *semaphore) Release(_ time.Duration, r *wire.Request, _ Ended) { s.used[s.of(r)]-- }
