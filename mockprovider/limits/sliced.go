package limits

import (
	"fmt"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// Sliced is a fixed window that is enforced in shorter slices: 600 a minute as
// 10 in each second. Replies describe the whole window, so they may refuse while
// plenty of it remains. Windows and slices are aligned to the provider's clock.
type Sliced struct {
	Limit  int32 `rate:"Length,whole" required:"600/min" about:"How many requests, or units of the charge, each window allows."`
	Length time.Duration
	// Slices is in how many equal parts Length is divided, at least 2. Each lets
	// in Limit ÷ Slices, rounded up, as long as there is something left of the
	// whole.
	Slices int32 `unit:"slices" least:"1" required:"60" about:"Into how many equal slices the window is divided, at least 2."`
	mockprovider.Terms
}

// Validate implements Limit.
func (s Sliced) Validate() error {
	switch {
	case s.Slices < 2:
		return fmt.Errorf("sliced window: there must be at least 2 slices, not %d", s.Slices)
	case s.Length%time.Duration(s.Slices) != 0:
		return fmt.Errorf("sliced window: %v cannot be divided into %d equal slices", s.Length, s.Slices)
	}
	return validateCount("sliced window", s.Limit, s.Length, s.Terms)
}

// Bound implements Limit: the limit ÷ the window's length.
func (s Sliced) Bound(load mockprovider.Load) mockprovider.Bound {
	return s.Terms.BoundOf(s.Limit, s.Length, &load)
}

// Gate implements Limit.
func (s Sliced) Gate(space mockprovider.Space) mockprovider.Gate {
	part := Window{Limit: (s.Limit-1)/s.Slices + 1, Length: s.Length / time.Duration(s.Slices), Terms: s.Terms}
	all := Window{Limit: s.Limit, Length: s.Length, Terms: s.Terms}
	return &sliced{part: part.Gate(space).(*window), all: all.Gate(space).(*window)}
}

// sliced is a window for the slice and one for the whole. What one lets in, the
// other counts.
type sliced struct {
	part, all *window
}

// Take implements Gate.
func (s *sliced) Take(now time.Duration, r *wire.Request) bool {
	if !s.part.Take(now, r) {
		if s.all.keep == mockprovider.KeepAll {
			s.all.Take(now, r)
		}
		return false
	}
	if s.all.Take(now, r) {
		return true
	}
	s.part.takeBack(r)
	return false
}

// Refuse implements Gate. There is room in the next slice or, if nothing is left
// of the whole, in the next window.
func (s *sliced) Refuse(now time.Duration, r *wire.Request) mockprovider.Verdict {
	whole := s.all.Standing(now, r)
	ready := s.part.Standing(now, r).Reset
	if room(s.part.cost(r)) > whole.Remaining {
		ready = whole.Reset
	}
	return s.part.verdict(r, whole.Limit, whole.Remaining, ready, whole.Reset)
}

// Form implements Gate.
func (s *sliced) Form(r *wire.Request) *mockprovider.Refusal { return s.all.Form(r) }

// Undo implements Gate.
func (s *sliced) Undo(now time.Duration, r *wire.Request) {
	s.part.Undo(now, r)
	s.all.Undo(now, r)
}

// Release implements Gate.
func (s *sliced) Release(now time.Duration, r *wire.Request, e mockprovider.Ended) {
	s.part.Release(now, r, e)
	s.all.Release(now, r, e)
}

// Standing implements StandingReporter: it reports the whole window.
func (s *sliced) Standing(now time.Duration, r *wire.Request) mockprovider.Standing {
	return s.all.Standing(now, r)
}

// Scale implements Scaler.
func (s *sliced) Scale(now time.Duration, percent int32) {
	s.part.Scale(now, percent)
	s.all.Scale(now, percent)
}

// Forget implements Forgetter.
func (s *sliced) Forget(account uint32) {
	s.part.Forget(account)
	s.all.Forget(account)
}

// Forgets implements Forgetter.
func (s *sliced) Forgets(r *wire.Request) bool { return s.all.Forgets(r) }

// SetClock implements ClockSetter.
func (s *sliced) SetClock(now, ahead time.Duration) {
	s.part.SetClock(now, ahead)
	s.all.SetClock(now, ahead)
}
