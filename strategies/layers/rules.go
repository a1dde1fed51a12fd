package layers

import (
	"fmt"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Rules say which failures a retry loop retries. The zero value is the house's
// rule: transient classes, unless output tokens have been delivered or the
// provider says that retrying is in vain; never a bad key, a missing
// permission, a spent quota or a bad request.
type Rules struct {
	// Classes is what is retried; the empty set means Transient.
	Classes strategies.Classes `without:"what the layer says, as a rule the transient ones" about:"Which classes of failures are retried."`
	// Statuses, if there are any, decide instead of Classes where a reply has an
	// error status, as in clients that look at nothing else.
	Statuses []Statuses `without:"only classes decide" about:"HTTP statuses that are retried; for replies with an error status they decide in place of the classes."`
	// Also is what is retried whatever the status, Except what never is.
	Also   strategies.Classes `without:"none" about:"Classes that are retried whatever the status."`
	Except strategies.Classes `without:"none" about:"Classes that are never retried."`
	// AskedOnly are statuses that are retried only if the reply says how long
	// to wait.
	AskedOnly []Statuses `without:"none" about:"HTTP statuses that are retried only if the reply asks for a wait."`
	// Marks says whether x-should-retry counts.
	Marks MarkUse `about:"How the header x-should-retry counts."`
	// Replay says what becomes of an answer that broke after it had begun.
	Replay Replay `about:"Whether an answer that failed after it had begun is retried."`
	// Refusals makes the loop retry, too, what a layer inside has refused
	// without an attempt: a breaker, a limiter, a shedder.
	Refusals bool `about:"Whether a call that a layer inside refused without an attempt (breaker, limiter, shedder) is retried."`
}

// Statuses is a range of HTTP statuses, both ends included.
type Statuses struct{ First, Last uint16 }

// Status returns the range of one status.
func Status(s uint16) Statuses { return Statuses{s, s} }

// MarkUse is what a client makes of x-should-retry.
type MarkUse uint8

// The uses. A provider that knows better may always stop a loop of ours; to
// start one, it must be asked.
const (
	MarksStop    MarkUse = iota // "false" stops, "true" means nothing
	MarksDecide                 // "false" stops, "true" retries whatever the class
	MarksIgnored                // neither means anything
	NumMarkUses  = iota         // how many uses there are
)

// String returns the name of the use as scenario files spell it.
func (m MarkUse) String() string { return nameOf(m, uint8(m)) }

// Names returns the name of each use, as files spell it, and its meaning.
func (MarkUse) Names() [][2]string {
	return [][2]string{
		MarksStop:    {"stop", `"false" stops the loop, "true" has no effect`},
		MarksDecide:  {"decide", `"false" stops the loop, "true" retries whatever the class`},
		MarksIgnored: {"ignored", "the header has no effect"},
	}
}

// Replay is what becomes of an answer that broke after it had begun.
type Replay uint8

// The ways. A retry pays for the tokens again; where the caller has already
// been given some, it would also get them twice.
const (
	ReplayUndelivered Replay = iota // retried unless tokens have been delivered
	ReplayNothing                   // not retried once the answer has begun
	ReplayAll                       // retried like any other failure
	ReplayOnly                      // nothing else is retried: a loop around streams
	NumReplays        = iota        // how many ways there are
)

// String returns the name of the way as scenario files spell it.
func (r Replay) String() string {
	return nameOf(r, uint8(r))
}

// Names returns the name of each way, as files spell it, and its meaning.
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

func (r *Rules) Validate() error {
	for _, list := range [...][]Statuses{r.Statuses, r.AskedOnly} {
		for _, s := range list {
			if s.First < 100 || s.Last < s.First || s.Last > 999 {
				return fmt.Errorf("%d to %d is no range of HTTP statuses; write 100 to 999, the lower one first", s.First, s.Last)
			}
		}
	}
	if r.Marks >= NumMarkUses || r.Replay >= NumReplays {
		return fmt.Errorf("there is no use %d of marks or no replay %d", uint8(r.Marks), uint8(r.Replay))
	}
	return nil
}

// byClass reports whether classes decide where there are no marks and nothing has
// begun.
func (r *Rules) byClass() bool {
	return r.Statuses == nil && r.AskedOnly == nil && r.Also == 0 && r.Except == 0 && r.Replay != ReplayOnly
}

// retries reports whether an attempt that ended with o, nil if there was none,
// and settles what is inside the loop as end says, is retried.
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
	return r.goesBy(o, end.Class)
}

// halfGiven reports whether the caller has had a part of an answer that broke: what
// another attempt brings would be a second one.
func halfGiven(o *wire.Outcome) bool { return o != nil && o.Begun && o.Tokens > 0 }

// forbidden reports whether a reply says that retrying is in vain.
func forbidden(o *wire.Outcome) bool { return o != nil && o.Marks&wire.ShouldNotRetry != 0 }

// goesBy reports whether class and status are among what is retried.
func (r *Rules) goesBy(o *wire.Outcome, class wire.Class) bool {
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

func Among(list []Statuses, s uint16) bool {
	for _, r := range list {
		if r.First <= s && s <= r.Last {
			return true
		}
	}
	return false
}
