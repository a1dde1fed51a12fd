package mockprovider

import (
	"errors"
	"time"

	"herdlab/mockprovider/wire"
)

// Semaphore is a concurrency limit: at most Limit requests in flight, those in
// the queue included.
type Semaphore struct {
	Limit   int32
	Per     Counted
	Refusal Refusal
}

// Validate implements Limit.
func (s Semaphore) Validate() error {
	if s.Limit < 1 {
		return errors.New("semaphore: the limit must be at least 1")
	}
	return nil
}

// Rate implements Limit: concurrency alone does not bound a rate.
func (Semaphore) Rate() float64 { return 0 }

// Gate implements Limit.
func (s Semaphore) Gate(accounts int) Gate {
	return &semaphore{Semaphore: s, used: make([]int32, s.Per.keys(accounts))}
}

type semaphore struct {
	Semaphore
	used []int32
}

// Take implements Gate.
func (s *semaphore) Take(_ time.Duration, r *wire.Request) bool {
	u := &s.used[s.Per.key(r)]
	if *u >= s.Limit {
		return false
	}
	*u++
	return true
}

// Refuse implements Gate. Nobody knows when a permit will be free, so hints
// other than constant ones are left out.
func (s *semaphore) Refuse(_ time.Duration, r *wire.Request, to *wire.Reply) {
	s.Refusal.reply(to, wire.Concurrency, wire.NoHint, s.Limit, s.Limit-s.used[s.Per.key(r)])
}

// Undo implements Gate.
func (s *semaphore) Undo(now time.Duration, r *wire.Request) { s.Release(now, r) }

// Release implements Gate.
func (s *semaphore) Release(_ time.Duration, r *wire.Request) { s.used[s.Per.key(r)]-- }
