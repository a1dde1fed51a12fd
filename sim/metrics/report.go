package metrics

import (
	"errors"
	"fmt"
	"math"
	"time"

	"herdlab/mockprovider/wire"
)

// Report is the outcome of one run.
type Report struct {
	Plan Plan
	// End is the time when the run ended: the horizon if that cut it off, and else
	// the time of the last event. An early end is not a merit: a strategy that
	// gives up ends at once.
	End    time.Duration
	Series Series
	Truth  Truth
	Belief Belief
	// Latency is that of useful answers, AllLatency that of all calls.
	Latency    Histogram
	AllLatency Survival
	// Outcomes are the calls as the success rate counts them.
	Outcomes Outcomes
	// Herd is the herd peak, in attempts per HerdWindow, and HerdEnd the end of its
	// window; both 0 without a capacity.
	Herd    float64
	HerdEnd time.Duration
	// Grows says that the backlog grows: see arrivalGrid.grows.
	Grows bool
	// InFlight is the number of attempts that had not ended for their client at
	// End.
	InFlight uint64
	// Tries are the attempts by their role.
	Tries
	// Arrived is the number of attempts that reached the provider.
	Arrived uint64
	// AttemptsInFault counts attempts that reached the provider between the
	// beginning of the first and the end of the last fault.
	AttemptsInFault uint64
	// LastCall is the time when the last call began, UsefulByLast the number of
	// calls that had been answered usefully by then.
	LastCall     time.Duration
	UsefulByLast uint64
	// LastSettled is when a call was last settled; 0 if none was.
	LastSettled time.Duration
	// DegradedBy counts the useful answers of lesser models by model, up to the
	// last model with any.
	DegradedBy []uint64
	// Fleets are the counts of each, if there are several.
	Fleets []FleetCount
	// Signals are the signals that strategies can raise, raised or not, in the
	// order of fleets and layers.
	Signals []Signal
	// Failures is a sample of the attempts that failed for their clients or in
	// truth, Failed the number of all of them.
	Failures []Failure
	Failed   uint64
	// Events is the number of events of the run.
	Events uint64

	sojourn, area   Sum128
	drain, recovery time.Duration // or undefinedTime, or neverTime
}

// Pending returns the number of calls that were not settled at End.
func (r *Report) Pending() uint64 {
	return r.Belief.Calls - r.Belief.Succeeded - r.Belief.Failed
}

// MeanSojourn returns the mean time of settled calls in the system, R of Little's
// law.
func (r *Report) MeanSojourn() float64 {
	return r.sojourn.nanoseconds() / float64(r.Belief.Succeeded+r.Belief.Failed) / float64(time.Second)
}

// MeanCalls returns the mean number of calls in the system over the run, L of
// Little's law.
func (r *Report) MeanCalls() float64 { return r.area.nanoseconds() / float64(r.End) }

// Check verifies the conservation laws on the run: attempts = answered +
// refused + timed out + cancelled + connection lost + in flight = first tries +
// retries + hedges; calls = succeeded + failed + pending; the bins add up to the
// totals; each useful answer has a source; no more is wasted than was spent;
// L = X·R if the run ended empty. An error is a bug in herdlab, not in a scenario.
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
	law(r.Arrived <= b.Attempts && b.Attempts-r.Arrived <= r.InFlight+b.Endings[TimedOut]+b.Endings[Cancelled]+b.Endings[ConnectionLost],
		"%d attempts were sent, %d arrived, %d are in flight", b.Attempts, r.Arrived, r.InFlight)
	law(calls == b.Calls && attempts == r.Arrived && useful == b.Useful && settled == b.Succeeded+b.Failed,
		"bins add up to %d calls, %d attempts, %d useful, %d settled; the ledgers say %d, %d, %d, %d",
		calls, attempts, useful, settled, b.Calls, r.Arrived, b.Useful, b.Succeeded+b.Failed)
	law(b.Useful <= r.Truth.Replies[wire.OK]+b.FromMemory+b.Shared, "%d calls were useful, the provider answered %d, their clients %d, other calls' attempts %d",
		b.Useful, r.Truth.Replies[wire.OK], b.FromMemory, b.Shared)
	law(r.Truth.WastedSlotTime.Compare(r.Truth.SlotTime) <= 0, "%g s of slot time were wasted, of %g s",
		r.Truth.WastedSlotTime.Seconds(), r.Truth.SlotTime.Seconds())
	law(r.Truth.WastedSpent.Compare(r.Truth.Spent) <= 0 && r.Truth.WastedTokens <= r.Truth.Tokens && r.Truth.RepeatedTokens <= r.Truth.Tokens,
		"%g n$ and %d tokens were wasted and %d repeated, of %g n$ and %d", r.Truth.WastedSpent.nanoseconds(), r.Truth.WastedTokens,
		r.Truth.RepeatedTokens, r.Truth.Spent.nanoseconds(), r.Truth.Tokens)
	var degraded uint64
	for _, n := range r.DegradedBy {
		degraded += n
	}
	law(degraded == b.Degraded, "models gave %d lesser answers, calls got %d", degraded, b.Degraded)
	r.checkFleets(law)
	if r.Pending() == 0 {
		law(r.sojourn == r.area, "Little's law: calls spent %g s, the system held %g call-seconds",
			r.sojourn.nanoseconds()/1e9, r.area.nanoseconds()/1e9)
	}
	return errors.Join(errs...)
}

// Never is the value of a time that is not reached within the run, Undefined that
// of a metric without a meaning for the run.
var (
	Never     = math.Inf(1)
	Undefined = math.NaN()
)

// Drain is the longest time in seconds from the end of a fault until every call
// that had arrived by then was settled; Never if one of them still waits, or if
// more of them are lost than 1 − Plan.MinSuccess allows. In one-shot fleets all calls count, and without a fault they are measured from the
// beginning; otherwise it is Undefined without a fault.
func (r *Report) Drain() float64 { return secondsOf(r.drain) }

// Recovery is the longest time in seconds from the end of a fault until the first
// window of 10 s, or of two mean service times if that is longer, in which useful
// answers are at least 95 % of min(arrivals + backlog, capacity). It is Undefined
// without a fault and for one-shot fleets, and Never if no such window ends before
// the next fault that refuses begins or the run is cut off, or if the backlog
// grows.
func (r *Report) Recovery() float64 { return secondsOf(r.recovery) }

// undefinedTime and neverTime stand for Undefined and Never in a duration.
const (
	undefinedTime time.Duration = -1
	neverTime     time.Duration = math.MaxInt64
)

func secondsOf(d time.Duration) float64 {
	switch d {
	case undefinedTime:
		return Undefined
	case neverTime:
		return Never
	}
	return d.Seconds()
}

// Goodput returns the useful answers per second while calls keep arriving: of
// open fleets until the last call begins, of closed fleets without a bound on
// calls until the horizon. This period is the same for all strategies with the
// same seed, so giving up does not increase goodput. It is Undefined for fleets
// with a given number of calls, where giving up ends the run early: they are
// judged by the drain.
func (r *Report) Goodput() float64 {
	switch r.Plan.Supply {
	case Open:
		return ratio(float64(r.UsefulByLast), r.LastCall.Seconds())
	case Endless:
		return ratio(float64(r.Belief.Useful), r.Plan.Horizon.Seconds())
	}
	return Undefined
}

// Peak returns the most attempts in one bin, and when that bin begins, in the
// whole run or after the last fault only.
func (r *Report) Peak(after bool) (attempts uint32, at time.Duration) {
	s := &r.Series
	first := 0
	if after {
		first = s.binOf(r.Plan.FaultEnd)
	}
	for i := first; i < len(s.Attempts); i++ {
		if s.Attempts[i] > attempts {
			attempts, at = s.Attempts[i], s.Start+time.Duration(i)*s.Width
		}
	}
	return attempts, at
}
