package metrics

import (
	"errors"
	"fmt"
	"math"
	"time"

	"herdlab/mockprovider/wire"
)

// Report is what is left of one run.
type Report struct {
	Plan Plan
	// End is when the run ended: at its horizon, or when nothing was left to
	// happen.
	End     time.Duration
	Series  Series
	Truth   Truth
	Belief  Belief
	Early   Early
	Latency Histogram
	// InFlight is how many attempts had not ended for their client at End.
	InFlight uint64
	// Tries says what the attempts were to their calls.
	Tries
	// Arrived is how many attempts have reached the provider.
	Arrived uint64
	// AttemptsInFault counts attempts sent between the beginning of the first
	// and the end of the last fault.
	AttemptsInFault uint64
	// Events is how many events the run took; it says nothing about the herd.
	Events uint64

	sojourn, area Total
}

// Pending is how many calls were not settled at End.
func (r *Report) Pending() uint64 {
	return r.Belief.Calls - r.Belief.Succeeded - r.Belief.Failed
}

// MeanSojourn is the mean time that settled calls spent in the system, R of
// Little's law.
func (r *Report) MeanSojourn() float64 {
	return r.sojourn.nanoseconds() / float64(r.Belief.Succeeded+r.Belief.Failed) / float64(time.Second)
}

// MeanCalls is the mean number of calls in the system over the run, L of
// Little's law.
func (r *Report) MeanCalls() float64 { return r.area.nanoseconds() / float64(r.End) }

// Check verifies the conservation laws on the run: attempts = answered +
// refused + timed out + withdrawn + broken + in flight; calls = succeeded +
// failed + pending; every bin adds up; L = X·R if the run ended empty. An
// error is a bug in herdlab, never in a scenario.
func (r *Report) Check() error {
	b := &r.Belief
	ended := r.InFlight
	for _, n := range b.Endings {
		ended += n
	}
	var calls, attempts, useful, settled uint64
	s := &r.Series
	for i := range s.Calls {
		calls += uint64(s.Calls[i])
		attempts += uint64(s.Attempts[i])
		useful += uint64(s.Useful[i])
		settled += uint64(s.Settled[i])
	}
	var errs []error
	law := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("conservation: "+format, args...))
		}
	}
	law(b.Attempts == ended, "%d attempts were sent, %d ended or are in flight", b.Attempts, ended)
	law(b.Succeeded+b.Failed <= b.Calls, "%d calls began, %d were settled", b.Calls, b.Succeeded+b.Failed)
	law(b.Succeeded == b.Useful+b.Lost, "%d successes are not %d useful and %d lost ones", b.Succeeded, b.Useful, b.Lost)
	law(r.FirstTries+r.Retries+r.Hedges == b.Attempts, "%d first tries, %d retries and %d hedges are not %d attempts",
		r.FirstTries, r.Retries, r.Hedges, b.Attempts)
	law(r.FirstTries <= b.Calls, "%d first tries of %d calls", r.FirstTries, b.Calls)
	law(r.Arrived <= b.Attempts && b.Attempts-r.Arrived <= r.InFlight+b.Endings[TimedOut]+b.Endings[Withdrawn]+b.Endings[Broken],
		"%d attempts were sent, %d arrived, %d are in flight", b.Attempts, r.Arrived, r.InFlight)
	law(calls == b.Calls && attempts == r.Arrived && useful == b.Useful && settled == b.Succeeded+b.Failed,
		"bins add up to %d calls, %d attempts, %d useful, %d settled; the ledgers say %d, %d, %d, %d",
		calls, attempts, useful, settled, b.Calls, r.Arrived, b.Useful, b.Succeeded+b.Failed)
	law(b.Useful <= r.Truth.Replies[wire.OK]+b.FromMemory, "%d calls were useful, the provider answered %d, their clients %d",
		b.Useful, r.Truth.Replies[wire.OK], b.FromMemory)
	law(r.Truth.WastedSlotTime.Compare(r.Truth.SlotTime) <= 0, "%g s of slot time were wasted, of %g s",
		r.Truth.WastedSlotTime.Seconds(), r.Truth.SlotTime.Seconds())
	if r.Pending() == 0 {
		law(r.sojourn == r.area, "Little's law: calls spent %g s, the system held %g call-seconds",
			r.sojourn.nanoseconds()/1e9, r.area.nanoseconds()/1e9)
	}
	return errors.Join(errs...)
}

// Never stands for a time that does not come within the run; Undefined for a
// figure that has no meaning for it.
var (
	Never     = math.Inf(1)
	Undefined = math.NaN()
)

// Drain is the time in seconds from the end of the last fault until every
// call that had arrived by then was answered: 0 if that was before, Never if
// one of them was lost, failed or is still pending. Without a fault it counts
// from the beginning and concerns all calls of a one-shot fleet.
func (r *Report) Drain() float64 {
	e := &r.Early
	if r.Plan.FaultEnd == 0 && !r.Plan.OneShot {
		return Undefined
	}
	if e.Useful < e.Calls {
		return Never
	}
	return max(0, (e.LastUseful - r.Plan.FaultEnd).Seconds())
}

// recoveryWindow is how long useful answers must hold the level to count as
// recovered, recoveryShare the level.
const (
	recoveryWindow = 10 * time.Second
	recoveryShare  = 0.95
)

// Recovery is the time in seconds from the end of the last fault until useful
// answers stay at or above 95 % of min(arrivals + backlog, capacity) over 10 s.
// It is Undefined without a fault and for one-shot fleets, and Never if that
// does not happen before the horizon.
func (r *Report) Recovery() float64 {
	if r.Plan.FaultEnd == 0 || r.Plan.OneShot {
		return Undefined
	}
	s := &r.Series
	width := int(max(1, recoveryWindow/s.Width))
	first := int((r.Plan.FaultEnd - s.Start) / s.Width)
	capacity := math.Inf(1)
	if r.Plan.Capacity > 0 {
		capacity = r.Plan.Capacity * float64(width) * s.Width.Seconds()
	}
	var backlog int64
	for i := range min(first, len(s.Calls)) {
		backlog += int64(s.Calls[i]) - int64(s.Settled[i])
	}
	last := len(s.Calls) - width
	if r.Pending() == 0 && r.End < r.Plan.Horizon { // nothing happens any more: the bins to come are empty
		last = len(s.Calls)
	}
	for i := first; i <= last; i++ {
		var arrived, useful int64
		for j := i; j < min(i+width, len(s.Calls)); j++ {
			arrived += int64(s.Calls[j])
			useful += int64(s.Useful[j])
		}
		if float64(useful) >= recoveryShare*min(float64(arrived+backlog), capacity) {
			return (s.Start + time.Duration(i)*s.Width - r.Plan.FaultEnd).Seconds()
		}
		if i < len(s.Calls) {
			backlog += int64(s.Calls[i]) - int64(s.Settled[i])
		}
	}
	return Never
}

// Peak returns the most attempts in one bin, and when that bin begins, in the
// whole run or after the last fault only.
func (r *Report) Peak(after bool) (attempts uint32, at time.Duration) {
	s := &r.Series
	first := 0
	if after {
		first = int((r.Plan.FaultEnd - s.Start) / s.Width)
	}
	for i := first; i < len(s.Attempts); i++ {
		if s.Attempts[i] > attempts {
			attempts, at = s.Attempts[i], s.Start+time.Duration(i)*s.Width
		}
	}
	return attempts, at
}
