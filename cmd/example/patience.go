package main

import (
	"time"

	"herdlab/strategies"
)

// patience makes the decisions of Spread as ordinary code: it runs on a coroutine for
// each call, under the virtual clock, and Send and Sleep block.
func patience(s *strategies.Session) error {
	r := s.Send()
	for ; r.Class.Transient(); r = s.Send() {
		s.Sleep(max(time.Second, r.RetryAfter) + s.Uniform(0, s.Now()-s.Call().Born))
	}
	return r.Err()
}
