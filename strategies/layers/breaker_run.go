package layers

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// The first shared word of a breaker holds its state in the lowest bits, the
// count of consecutive failures above them, and in the upper half the serial
// number of its latest half-open time, so that a probe whose permit was given
// to another is told from its successor. The second word is the time when an
// open breaker may close, or when probes are given up. A third, if there are
// several permits, is how they have fared; the words of a trip follow.
const (
	closed = iota
	open
	probing

	stateMask  = 3
	oneFailure = stateMask + 1
	upperHalf  = 32
	lowerMask  = 1<<upperHalf - 1

	// Of the third word: permits given out and not come back, and the ends of
	// probes that were successes and failures.
	onePermit     = 1
	oneSuccess    = 1 << 16
	oneFailedTry  = 1 << 32
	permitCounter = oneSuccess - 1
)

type breaker struct {
	Breaker
	shared strategies.Slot
	trip   uint32 // where the words of the trip begin
	// own is 0, or says that the call is let in as a probe: the serial number in
	// the upper half, the number of its first attempt in the lower.
	own     strategies.Slot
	purpose strategies.Purpose
}

// Admit implements Guard.
func (k *breaker) Admit(now time.Duration, c *strategies.Call) strategies.Decision {
	word := c.Word(k.shared, 0)
	state := *word & stateMask
	if state == closed {
		return strategies.Decision{}
	}
	until := c.Word(k.shared, 1)
	if int64(now) >= *until { // the open time is over, or the last probes are lost
		*word = (*word>>upperHalf+1)<<upperHalf | probing
		if k.Probes > 1 {
			*c.Word(k.shared, 2) = 0
		}
		k.permit(now, c)
		return strategies.Decision{}
	}
	if state == probing && k.Probes > 1 && given(*c.Word(k.shared, 2)) < int64(k.Probes) {
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
	serial := *c.Word(k.shared, 0) &^ lowerMask
	*c.Word(k.shared, 1) = int64(saturating.Add(now, k.ProbeTimeout))
	*c.Word(k.own, 0) = serial | int64(c.Attempts+1)
	if k.Probes > 1 {
		*c.Word(k.shared, 2) += onePermit
	}
}

// given is how many permits of a half-open time have been used.
func given(fared int64) int64 {
	return fared&permitCounter + fared/oneSuccess&permitCounter + fared/oneFailedTry
}

// Observe implements Guard.
func (k *breaker) Observe(now time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) {
	word, own := c.Word(k.shared, 0), c.Word(k.own, 0)
	if *own == 0 && *word&lowerMask == closed && d.End.Reason == strategies.Succeeded && k.Trip == nil {
		return // as most attempts end
	}
	// A breaker outside a loop lets in a call, whose last attempt need not be
	// the one that was announced; so any later one ends the probe as well.
	// Inside a loop both are the same unless attempts are hedged.
	probe := false
	if *own != 0 && (!e.Terminal() || int64(e.Attempt) >= *own&lowerMask) {
		probe = *word&stateMask == probing && *own>>upperHalf == *word>>upperHalf
		*own = 0
	}
	succeeded := d.End.Reason == strategies.Succeeded
	failed := !succeeded && k.Counts.Has(d.End.Class) && asked(e, d)
	switch state := *word & stateMask; {
	case state == closed && k.Trip != nil:
		slow := k.SlowAfter > 0 && e.Terminal() && now-e.SentAt >= k.SlowAfter
		if (succeeded || failed) && k.Trip.Note(now, c.Words(k.shared)[k.trip:], failed, slow) {
			k.open(now, c)
		}
	case state == closed && failed:
		*word += oneFailure
		if *word&lowerMask >= int64(k.Failures)*oneFailure {
			k.open(now, c)
		}
	case succeeded && (state == closed || !k.IgnoreStragglers):
		k.close(c)
	case !probe: // under way since before it opened
	case !succeeded && !failed:
		k.giveBack(now, c)
	case k.Probes == 1 && succeeded:
		k.close(c)
	case k.Probes == 1:
		k.open(now, c)
	default:
		k.fared(now, c, failed)
	}
}

// asked reports whether the provider has had a part in a stop: whether an
// attempt's end has brought it about, and not a layer that let none be made.
func asked(e strategies.Event, d strategies.Decision) bool {
	switch d.End.Reason {
	case strategies.BreakerOpen, strategies.LimiterRefused, strategies.Shed:
		return false
	case strategies.DeadlinePassed:
		return e.Terminal()
	}
	return true
}

// fared counts one of several probes.
func (k *breaker) fared(now time.Duration, c *strategies.Call, failed bool) {
	w := c.Word(k.shared, 2)
	if *w -= onePermit; failed {
		*w += oneFailedTry
	} else {
		*w += oneSuccess
	}
	successes, failures := *w/oneSuccess&permitCounter, *w/oneFailedTry
	switch {
	case k.AllProbes && successes+failures < int64(k.Probes):
	case failures >= int64(k.OpenAfter):
		k.open(now, c)
	case successes >= int64(k.CloseAfter):
		k.close(c)
	}
}

// giveBack gives the permit of a probe that was neither success nor failure to
// the next who asks.
func (k *breaker) giveBack(now time.Duration, c *strategies.Call) {
	if k.Probes > 1 {
		*c.Word(k.shared, 2) -= onePermit
		return
	}
	*c.Word(k.shared, 1) = int64(now)
}

func (k *breaker) close(c *strategies.Call) {
	*c.Word(k.shared, 0) &^= lowerMask
	if k.Trip != nil {
		clear(c.Words(k.shared)[k.trip:])
	}
}

func (k *breaker) open(now time.Duration, c *strategies.Call) {
	word := c.Word(k.shared, 0)
	*word = *word&^lowerMask | open
	openFor := saturating.Add(k.OpenFor, c.Uniform(k.purpose.Second(), 0, k.OpenJitter))
	*c.Word(k.shared, 1) = int64(saturating.Add(now, openFor))
}
