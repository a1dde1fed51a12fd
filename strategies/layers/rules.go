package layers

import (
	"fmt"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Rules set which failures a retry loop retries. The zero value is the default: the
// transient classes, unless output tokens have been delivered or the provider marks
// the failure as not to be retried. A bad key, a missing permission, a spent quota
// and a bad request are not retried.
type Rules struct {
	// Classes is the set of classes that are retried; the empty set means
	// Transient, unless the layer has another default.
	Classes strategies.Classes `without:"what the layer says, as a rule the transient ones" about:"Which classes of failures are retried."`
	// Statuses, if there are any, decide in place of Classes for replies with an
	// error status, as in clients that check nothing else.
	Statuses []Statuses `without:"only classes decide" about:"HTTP statuses that are retried; for replies with an error status they decide in place of the classes."`
	// Also is the set of classes that are retried with any status, Except the set
	// that is never retried.
	Also   strategies.Classes `without:"none" about:"Classes that are retried whatever the status."`
	Except strategies.Classes `without:"none" about:"Classes that are never retried."`
	// AskedOnly are statuses that are retried only if the reply contains a hint.
	AskedOnly []Statuses `without:"none" about:"HTTP statuses that are retried only if the reply asks for a wait."`
	// Marks sets the effect of the header x-should-retry.
	Marks MarkUse `about:"How the header x-should-retry counts."`
	// Replay sets whether an answer that failed after it had begun is retried.
	Replay Replay `about:"Whether an answer that failed after it had begun is retried."`
	// Refusals makes the loop also retry calls that a layer inside (a breaker, a
	// limiter, a shedder) refused without an attempt.
	Refusals bool `about:"Whether a call that a layer inside refused without an attempt (breaker, limiter, shedder) is retried."`
}

// Statuses is a range of HTTP statuses, both ends included.
type Statuses struct{ First, Last uint16 }

// Status returns the range of one status.
func Status(s uint16) Statuses { return Statuses{s, s} }

// MarkUse is the effect of the header x-should-retry.
type MarkUse uint8

// The effects. By default the header may stop a loop, but it cannot start a retry.
const (
	MarksStop    MarkUse = iota // "false" stops, "true" has no effect
	MarksDecide                 // "false" stops, "true" retries whatever the class
	MarksIgnored                // neither has an effect
	NumMarkUses  = iota         // the number of effects
)

// String returns the name of the effect as scenario files spell it.
func (m MarkUse) String() string { return nameOf(m, uint8(m)) }

// Names returns the name of each effect, as scenario files spell it, and its
// meaning.
func (MarkUse) Names() [][2]string {
	return [][2]string{
		MarksStop:    {"stop", `"false" stops the loop, "true" has no effect`},
		MarksDecide:  {"decide", `"false" stops the loop, "true" retries whatever the class`},
		MarksIgnored: {"ignored", "the header has no effect"},
	}
}

// Replay is the rule for an answer that failed after it had begun.
type Replay uint8

// The rules. A retry pays for the tokens again; if the caller has already received
// some, it gets them twice.
const (
	ReplayUndelivered Replay = iota // retried unless tokens have been delivered
	ReplayNothing                   // not retried once the answer has begun
	ReplayAll                       // retried like any other failure
	ReplayOnly                      // nothing else is retried: a loop around streams
	NumReplays        = iota        // the number of values
)

// String returns the name of the value as scenario files spell it.
func (r Replay) String() string {
	return nameOf(r, uint8(r))
}

// Names returns the name of each value, as scenario files spell it, and its
// meaning.
func (Replay) Names() [][2]string {
	return [][2]string{
		ReplayUndelivered: {"undelivered", "it is retried unless tokens have been delivered"},
		ReplayNothing:     {"nothing", "it is not retried once the answer has begun"},
		ReplayAll:         {"all", "it is retried like any other failure"},
		ReplayOnly:        {"only", "nothing else is retried: a loop around streams"},
	}
}

// nameOf returns the name of value i of an enumeration.
func nameOf(of interface{ Names() [][2]string }, i uint8) string {
	if names := of.Names(); int(i) < len(names) {
		return names[i][0]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

// Validate reports an error if a status range, Marks or Replay is invalid.
func (r *Rules) Validate() error {
	for _, list := range [...][]Statuses{r.Statuses, r.AskedOnly} {
		for _, s := range list {
			if s.First < 100 || s.Last < s.First || s.Last > 999 {
				return fmt.Errorf("%d to %d is not a range of HTTP statuses; write 100 to 999, the lower one first", s.First, s.Last)
			}
		}
	}
	if r.Marks >= NumMarkUses || r.Replay >= NumReplays {
		return fmt.Errorf("there is no value %d of marks or no value %d of replay", uint8(r.Marks), uint8(r.Replay))
	}
	return nil
}

// byClass reports whether classes alone decide for outcomes that have no marks and
// had not begun.
func (r *Rules) byClass() bool {
	return r.Statuses == nil && r.AskedOnly == nil && r.Also == 0 && r.Except == 0 && r.Replay != ReplayOnly
}

// Retries reports whether a loop retries after the outcome o of an attempt, nil if
// there was none, and the end of the inner strategy.
func (r *Rules) Retries(o *wire.Outcome, end strategies.End) bool {
	switch end.Reason {
	case strategies.Failed, strategies.TriesExhausted:
	case strategies.BreakerOpen, strategies.LimiterRefused, strategies.Shed:
		return r.Refusals
	default:
		return false
	}
	if o == nil {
		return r.Classes.Has(end.Class)
	}
	switch r.Replay {
	case ReplayUndelivered:
		if o.Begun && o.Tokens > 0 {
			return false
		}
	case ReplayNothing, ReplayOnly:
		if o.Begun == (r.Replay == ReplayNothing) {
			return false
		}
	}
	if o.Marks&(wire.ShouldNotRetry|wire.ShouldRetry) != 0 && r.Marks != MarksIgnored {
		if o.Marks&wire.ShouldNotRetry != 0 {
			return false
		}
		if r.Marks == MarksDecide {
			return true
		}
	}
	return r.selects(o, end.Class)
}

// partlyDelivered reports whether the caller has received a part of an answer that
// failed, so that another attempt would deliver a second one.
func partlyDelivered(o *wire.Outcome) bool { return o != nil && o.Begun && o.Tokens > 0 }

// mustNotRetry reports whether the reply is marked as not to be retried.
func mustNotRetry(o *wire.Outcome) bool { return o != nil && o.Marks&wire.ShouldNotRetry != 0 }

// selects reports whether class and status are among those that are retried.
func (r *Rules) selects(o *wire.Outcome, class wire.Class) bool {
	switch {
	case r.Except.Has(class), o.RetryAfter < 0 && Among(r.AskedOnly, o.Status):
		return false
	case r.Also.Has(class):
		return true
	case r.Statuses != nil && o.Status >= 400:
		return Among(r.Statuses, o.Status)
	}
	return r.Classes.Has(class)
}

// Among reports whether status s is in one of the ranges.
func Among(list []Statuses, s uint16) bool {
	for _, r := range list {
		if r.First <= s && s <= r.Last {
			return true
		}
	}
	return false
}
