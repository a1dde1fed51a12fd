package layers

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

type breaker struct {
	Breaker
	// shared holds a breakerState; when an open breaker may close, or when probes are
	// given up; probeCounts, if there are several permits; and the words of a trip.
	shared  strategies.Slot
	trip    uint32          // where the words of the trip begin
	own     strategies.Slot // the call's probePermit
	purpose strategies.Purpose
}

// state returns the state of the breaker.
func (k *breaker) state(c *strategies.Call) *breakerState {
	return (*breakerState)(c.Word(k.shared, 0))
}

// until returns when an open breaker may close, or when probes are given up.
func (k *breaker) until(c *strategies.Call) *int64 { return c.Word(k.shared, 1) }

// probes returns the counts of probes; only a breaker of several permits has them.
func (k *breaker) probes(c *strategies.Call) *probeCounts {
	return (*probeCounts)(c.Word(k.shared, 2))
}

// Admit implements Guard.
func (k *breaker) Admit(now time.Duration, c *strategies.Call) strategies.Decision {
	word := k.state(c)
	state := word.state()
	if state == closed {
		return strategies.Decision{}
	}
	until := k.until(c)
	if int64(now) >= *until { // the open time is over, or the last probes are lost
		word.halfOpen()
		if k.Probes > 1 {
			*k.probes(c) = 0
		}
		k.permit(now, c)
		return strategies.Decision{}
	}
	if state == halfOpen && k.Probes > 1 && k.probes(c).given() < int64(k.Probes) {
		k.permit(now, c)
		return strategies.Decision{}
	}
	if k.FailFast {
		return strategies.StopWith(strategies.BreakerOpen, wire.Overloaded)
	}
	wait := k.MinWait
	if state == open {
		wait = max(wait, time.Duration(*until)-now)
	}
	return strategies.Decision{Kind: strategies.Wait, After: saturating.Add(wait, c.Uniform(k.purpose, 0, k.Jitter))}
}

// permit lets the call in as a probe.
func (k *breaker) permit(now time.Duration, c *strategies.Call) {
	*k.until(c) = int64(saturating.Add(now, k.ProbeTimeout))
	*c.Word(k.own, 0) = int64(permitOf(k.state(c).serial(), int64(c.Attempts+1)))
	if k.Probes > 1 {
		k.probes(c).begin()
	}
}

// Observe implements Guard.
func (k *breaker) Observe(now time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) {
	state, own := k.state(c), (*probePermit)(c.Word(k.own, 0))
	if *own == 0 && state.fresh() && d.End.Reason == strategies.Succeeded && k.Trip == nil {
		return // as most attempts end
	}
	// A breaker outside a loop admits a call, which may end with a later attempt
	// than the first; so any later attempt ends the probe as well. Inside a loop
	// both are the same attempt unless the call is hedged.
	probe := false
	if *own != 0 && (!e.Terminal() || int64(e.Attempt) >= own.attempt()) {
		probe = state.state() == halfOpen && own.serial() == state.serial()
		*own = 0
	}
	succeeded := d.End.Reason == strategies.Succeeded
	failed := !succeeded && k.Counts.Has(d.End.Class) && reachedProvider(e, d)
	switch closed := state.state() == closed; {
	case closed && k.Trip != nil:
		slow := k.SlowAfter > 0 && e.Terminal() && now-e.SentAt >= k.SlowAfter
		if (succeeded || failed) && k.Trip.Note(now, c.Words(k.shared)[k.trip:], failed, slow) {
			k.open(now, c)
		}
	case closed && failed:
		state.addFailure()
		if state.failures() >= int64(k.Failures) {
			k.open(now, c)
		}
	case succeeded && (closed || !k.IgnoreStragglers):
		k.close(c)
	case !probe: // under way since before it opened
	case !succeeded && !failed:
		k.releasePermit(now, c)
	case k.Probes == 1 && succeeded:
		k.close(c)
	case k.Probes == 1:
		k.open(now, c)
	default:
		k.probeEnded(now, c, failed)
	}
}

// reachedProvider reports whether a stop follows from the end of an attempt, and
// not from a layer that refused the call without one.
func reachedProvider(e strategies.Event, d strategies.Decision) bool {
	switch d.End.Reason {
	case strategies.BreakerOpen, strategies.LimiterRefused, strategies.Shed:
		return false
	case strategies.DeadlinePassed:
		return e.Terminal()
	}
	return true
}

// probeEnded counts the end of one of several probes.
func (k *breaker) probeEnded(now time.Duration, c *strategies.Call, failed bool) {
	n := k.probes(c)
	n.end(failed)
	switch {
	case k.AllProbes && n.successes()+n.failures() < int64(k.Probes):
	case n.failures() >= int64(k.OpenAfter):
		k.open(now, c)
	case n.successes() >= int64(k.CloseAfter):
		k.close(c)
	}
}

// releasePermit frees the permit of a probe that was neither a success nor a
// failure, so that another call can probe.
func (k *breaker) releasePermit(now time.Duration, c *strategies.Call) {
	if k.Probes > 1 {
		k.probes(c).cancel()
		return
	}
	*k.until(c) = int64(now)
}

func (k *breaker) close(c *strategies.Call) {
	k.state(c).close()
	if k.Trip != nil {
		clear(c.Words(k.shared)[k.trip:])
	}
}

func (k *breaker) open(now time.Duration, c *strategies.Call) {
	k.state(c).open()
	openFor := saturating.Add(k.OpenFor, c.Uniform(k.purpose.Second(), 0, k.OpenJitter))
	*k.until(c) = int64(saturating.Add(now, openFor))
}
