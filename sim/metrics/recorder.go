package metrics

import (
	"time"

	"herdlab/mockprovider/wire"
)

// Ending is how an attempt ended for its client.
type Ending uint8

// The endings of an attempt.
const (
	Answered       Ending = iota // with a useful answer
	Refused                      // with a refusal or an error
	TimedOut                     // the client stopped waiting for it
	Cancelled                    // its call was cancelled or settled before it ended
	ConnectionLost               // the connection was lost
	NumEndings     = iota
)

// Recorder records one run. A driver calls its methods in the order of time.
type Recorder struct {
	plan Plan

	bins   Series
	bin    int           // the current bin
	binEnd time.Duration // its end

	truth  Truth
	belief Belief

	latency Histogram // of calls that were answered usefully
	herd    herdPeak
	grid    arrivalGrid
	drain   drainClock
	recover recoveryClock
	longest time.Duration // wait that was answered usefully
	// Times in the system: of settled calls, and of all calls up to lastChange.
	sojourn, area   Sum128
	lastChange      time.Duration
	tries           Tries
	arrived         uint64
	attemptsInFault uint64
	lastCall        time.Duration
	usefulByLast    uint64

	degradedBy []uint64
	signals    []Signal
	failures   []Failure // a sample
	failed     uint64    // number of all failures
	nextSample uint64    // number of the next failure that is kept
}

// Truth is the provider's ledger: the outcome of the attempts that arrived.
type Truth struct {
	// Replies counts replies that left the provider, by their true class;
	// Useful is Replies[wire.OK].
	Replies [wire.NumClasses]uint64
	// Dropped counts attempts that are never answered.
	Dropped uint64
	// SlotTime is the time for which slots were held, WastedSlotTime the part of
	// it for answers that were not used.
	SlotTime, WastedSlotTime Sum128
	// Spent is the charge for all attempts, WastedSpent the part of it for answers
	// that were not used, in nano-dollars.
	Spent, WastedSpent Sum128
	// Tokens is the number of output tokens delivered, WastedTokens those in
	// answers that were not used, RepeatedTokens those that the client had already
	// received from a failed attempt of the call.
	Tokens, WastedTokens, RepeatedTokens uint64
}

// Belief is the clients' ledger: how they interpreted the outcomes.
type Belief struct {
	// Calls that began, Attempts that were sent, and how attempts ended.
	Calls, Attempts uint64
	Endings         [NumEndings]uint64
	// Succeeded counts calls that the client took for a success, Useful those that
	// were a success, Lost the difference, Failed the others that are settled;
	// Cancelled is the part of Failed that callers cancelled.
	Succeeded, Useful, Lost, Failed, Cancelled uint64
	// Of the useful answers, Degraded counts those of a lesser model, FromMemory
	// those of the client itself, without an attempt, and Shared those of another
	// call's attempt. A degraded answer may also be one of the others.
	Degraded, FromMemory, Shared uint64
}

// Tries are the attempts that were sent, by their role.
type Tries struct {
	// Retries were sent while no other attempt of the call was in flight, Hedges
	// while one was.
	FirstTries, Retries, Hedges uint64
}

// NewRecorder returns a recorder for a run with the given plan.
func NewRecorder(p Plan) *Recorder {
	if p.Bin <= 0 {
		p.Bin = time.Second
	}
	if p.MinSuccess <= 0 {
		p.MinSuccess = DefaultMinSuccess
	}
	r := &Recorder{
		plan: p, bin: -1, herd: newHerdPeak(p.Capacity), grid: newArrivalGrid(p.Horizon),
		drain: newDrainClock(p.ends(), p.OneShot, p.MinSuccess), recover: newRecoveryClock(&p),
	}
	r.bins.Width = p.Bin
	if m := p.FaultEnd % p.Bin; m != 0 {
		r.bins.Start = m - p.Bin
	}
	r.binEnd = r.bins.Start
	r.nextSample = 1
	return r
}

// at returns the bin of now and makes it the current one. Time does not decrease,
// so most calls do nothing.
func (r *Recorder) at(now time.Duration) int {
	if now >= r.binEnd {
		r.advance(now)
	}
	return r.bin
}

func (r *Recorder) advance(now time.Duration) {
	s := &r.bins
	r.bin = s.binOf(now)
	r.binEnd = s.Start + time.Duration(r.bin+1)*s.Width
	s.Calls = extend(s.Calls, r.bin+1)
	s.Attempts = extend(s.Attempts, r.bin+1)
	s.Useful = extend(s.Useful, r.bin+1)
	s.Settled = extend(s.Settled, r.bin+1)
}

// CallBegan records a new call.
func (r *Recorder) CallBegan(now time.Duration) {
	r.bins.Calls[r.at(now)]++
	r.change(now)
	r.recover.begun(now, int64(r.open()))
	r.drain.began(now)
	r.grid.calls[r.grid.at(now)]++
	r.belief.Calls++
	r.lastCall, r.usefulByLast = now, r.belief.Useful
}

// change integrates the number of calls in the system up to now.
func (r *Recorder) change(now time.Duration) {
	r.area.addTimes(r.open(), now-r.lastChange)
	r.lastChange = now
}

// open returns the number of calls in the system.
func (r *Recorder) open() uint64 { return r.belief.Calls - r.belief.Succeeded - r.belief.Failed }

// AttemptSent records the attempt of a call with the given number, from 1; hedge
// reports that another attempt of the call is in flight.
func (r *Recorder) AttemptSent(number uint32, hedge bool) {
	r.belief.Attempts++
	switch {
	case number <= 1:
		r.tries.FirstTries++
	case hedge:
		r.tries.Hedges++
	default:
		r.tries.Retries++
	}
}

// AttemptArrived records that an attempt reached the provider.
func (r *Recorder) AttemptArrived(now time.Duration) {
	r.bins.Attempts[r.at(now)]++
	r.arrived++
	if now < r.plan.FaultEnd && now >= r.plan.FaultBegin {
		r.attemptsInFault++
	}
}

// Replied records a reply of the provider and the time for which it held a slot.
func (r *Recorder) Replied(c wire.Class, slot time.Duration) {
	r.truth.Replies[c]++
	r.truth.SlotTime.Add(slot)
}

// Dropped records an attempt that the provider will never answer, and the time for
// which it held a slot.
func (r *Recorder) Dropped(slot time.Duration) {
	r.truth.Dropped++
	r.truth.SlotTime.Add(slot)
}

// Wasted records the slot time of an answer that was not used.
func (r *Recorder) Wasted(slot time.Duration) { r.truth.WastedSlotTime.Add(slot) }

// Charged records the charge for an attempt, in nano-dollars, and the output tokens
// that it delivered.
func (r *Recorder) Charged(cost int64, tokens uint32) {
	r.truth.Spent.Add(time.Duration(cost))
	r.truth.Tokens += uint64(tokens)
}

// WastedCharge records the charge and the tokens of an answer that was not used.
func (r *Recorder) WastedCharge(cost int64, tokens uint32) {
	r.truth.WastedSpent.Add(time.Duration(cost))
	r.truth.WastedTokens += uint64(tokens)
}

// Repeated records output tokens that a client has received before.
func (r *Recorder) Repeated(tokens uint32) { r.truth.RepeatedTokens += uint64(tokens) }

// AttemptEnded records the ending of an attempt for its client.
func (r *Recorder) AttemptEnded(how Ending) { r.belief.Endings[how]++ }

// Settlement is the end of a call.
type Settlement struct {
	Born time.Duration
	// Succeeded is the client's belief, Useful the truth.
	Succeeded, Useful bool
	Cancelled         bool // by the caller
	// Degraded is an answer of a lesser model than requested, FromMemory one of
	// the client itself, without an attempt, Shared one of another call's attempt.
	Degraded, FromMemory, Shared bool
	// Model is that of the last attempt's target.
	Model uint8
}

// CallSettled records the end of a call.
func (r *Recorder) CallSettled(now time.Duration, s Settlement) {
	bin := r.at(now)
	r.change(now)
	r.bins.Settled[bin]++
	r.recover.over(now, s.Born, s.Succeeded && s.Useful, int64(r.open()))
	r.drain.settled(now, s.Born, s.Succeeded && s.Useful)
	r.grid.over[r.grid.at(now)]++
	r.sojourn.Add(now - s.Born)
	switch {
	case s.Succeeded && s.Useful:
		r.belief.Succeeded++
		r.belief.Useful++
		if s.Degraded || s.FromMemory || s.Shared {
			r.special(s)
		}
		r.bins.Useful[bin]++
		r.latency.Add(now - s.Born)
		r.grid.useful[r.grid.of(s.Born)]++
		r.longest = max(r.longest, now-s.Born)
	case s.Succeeded:
		r.belief.Succeeded++
		r.belief.Lost++
	default:
		r.belief.Failed++
		if s.Cancelled {
			r.belief.Cancelled++
		}
	}
}

// special counts a degraded, cached or shared answer.
func (r *Recorder) special(s Settlement) {
	if s.Degraded {
		r.belief.Degraded++
		for len(r.degradedBy) <= int(s.Model) {
			r.degradedBy = append(r.degradedBy, 0)
		}
		r.degradedBy[s.Model]++
	}
	if s.FromMemory {
		r.belief.FromMemory++
	}
	if s.Shared {
		r.belief.Shared++
	}
}

// FoundNoRoom records that an attempt that the strategy caused (a retry, a hedge, or
// a first attempt sent more than Prompt after its call arrived) reached the provider
// and was refused or queued. percent is the part of that which no fault is to blame
// for: less than 100 if a fault has cut what the provider can serve.
func (r *Recorder) FoundNoRoom(now time.Duration, percent uint8) { r.herd.add(now, percent) }

// DefaultMinSuccess is the share of calls that must be answered usefully unless a
// scenario or its reader asks for another.
const DefaultMinSuccess = 0.999

// Prompt is the time within which a first attempt follows from the arrival of its
// call. One that is sent later is sent when the strategy wants it.
const Prompt = time.Second

// Finish returns the report of a run that ended at end.
// inFlight is the number of attempts that have not ended for their client. waiting
// yields the time of arrival of each call that is not settled; nil if there are
// none.
func (r *Recorder) Finish(end time.Duration, inFlight uint64, waiting func(yield func(born time.Duration))) *Report {
	r.change(end)
	if waiting == nil {
		waiting = func(func(time.Duration)) {}
	}
	rep := &Report{
		Plan: r.plan, End: end, Series: r.bins, Truth: r.truth, Belief: r.belief,
		Latency: r.latency, AllLatency: Survival{Answered: r.latency, Failed: r.belief.Failed + r.belief.Lost},
		InFlight: inFlight, Arrived: r.arrived, Tries: r.tries,
		AttemptsInFault: r.attemptsInFault, LastCall: r.lastCall, UsefulByLast: r.usefulByLast, LastSettled: r.drain.last,
		DegradedBy: r.degradedBy, Signals: r.signals, Failures: r.failures, Failed: r.failed,
		sojourn: r.sojourn, area: r.area,
	}
	r.conclude(rep, waiting)
	return rep
}

// conclude fills in what follows from the calls that are still waiting.
func (r *Recorder) conclude(rep *Report, waiting func(yield func(born time.Duration))) {
	hung, pending := rep.Hung() > 0, rep.Pending()
	rep.Grows = !r.plan.OneShot && r.grid.grows(r.plan.lastRefusal(), rep.End, r.recover.search.width)
	waiting(func(born time.Duration) {
		if hung {
			rep.AllLatency.Failed++
		} else {
			rep.AllLatency.Waiting.Add(rep.End - born)
		}
	})
	rep.Outcomes = r.grid.outcomes(ending{
		at: rep.End, longest: r.longest,
		all: hung || pending == 0 || r.plan.OneShot || r.belief.Useful == 0 || rep.Grows && float64(pending) > float64(backlogShare*float64(r.belief.Calls)),
	}, waiting)
	rep.Herd, rep.HerdEnd = r.herd.peak()
	rep.drain = r.drain.finish(rep.End)
	rep.recovery = undefinedTime
	if !r.plan.OneShot {
		rep.recovery = r.recover.finish(rep.End, pending == 0 && rep.End < r.plan.Horizon, int64(pending))
		if rep.Grows && rep.recovery != undefinedTime {
			rep.recovery = neverTime
		}
	}
}
