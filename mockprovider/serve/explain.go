package serve

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// classTexts explain why a request of each class ended.
var classTexts = [wire.NumClasses]string{
	wire.OK:             "answered",
	wire.Rate:           "the limit on requests is reached",
	wire.TokenRate:      "the limit on tokens is reached",
	wire.Concurrency:    "the limit on requests in flight is reached",
	wire.Acceleration:   "the limit on growth of traffic is reached",
	wire.Overloaded:     "the provider is at capacity or out of service",
	wire.Quota:          "the quota is used up",
	wire.Auth:           "the key is missing or not valid",
	wire.Permission:     "the key does not have the permission",
	wire.BadRequest:     "the request is invalid",
	wire.TooLarge:       "the request is too large for the model",
	wire.ServerError:    "an error of the provider",
	wire.Timeout:        "the provider's own timeout",
	wire.ConnectionLost: "the connection was lost",
	wire.Cancelled:      "the client hung up",
}

// bodyTexts describe how a fault changed an answer.
var bodyTexts = [wire.NumBodies]string{
	wire.StreamError:   "an error in the stream after status 200",
	wire.SilentEnd:     "the stream ended without its finish marker",
	wire.TruncatedBody: "the body was truncated",
	wire.Garbage:       "the body is not JSON",
	wire.WrongType:     "the body is an HTML page",
	wire.Doubled:       "the body contains the answer twice",
}

// explain returns the reason of the decision in a sentence.
func (d *decision) explain() string {
	if d.reason != "" {
		return d.reason
	}
	r := &d.end.Reply
	switch d.end.Kind {
	case wire.Dropped:
		return "a fault: the request is never answered"
	case wire.LostConnection:
		return "a fault: the connection was lost"
	}
	s := classTexts[d.class]
	if spoilt := bodyTexts[r.Body]; spoilt != "" {
		s = "a fault: " + spoilt
	}
	switch {
	case d.class == wire.OK && r.Tokens > 0:
		s += fmt.Sprintf(", %d tokens", r.Tokens)
	case d.class == wire.Overloaded && d.queued > 0:
		s += fmt.Sprintf("; queue length %d", d.queued)
	case d.class != wire.OK && r.Limit > 0:
		s += fmt.Sprintf("; the reply states limit %d, remaining %d", r.Limit, r.Remaining)
	}
	for _, l := range d.standings.list[:d.standings.n] {
		s += fmt.Sprintf("; limit %d: %d of %d used", l.Limit, l.Used, l.Of)
		if l.Reset > 0 {
			s += fmt.Sprintf(", resets in %v", time.Duration(l.Reset*float64(time.Second)).Round(time.Millisecond))
		}
	}
	if d.faults > 0 && d.class != wire.OK && d.standings.n == 0 && bodyTexts[r.Body] == "" {
		s += "; a fault is active"
	}
	if r.Marks&wire.DegradedReply != 0 {
		s += ", by a lesser model (degraded)"
	}
	if r.Shown != r.Class {
		s += fmt.Sprintf("; the reply shows class %s", r.Shown)
	}
	if wait, ok := d.hint(); ok && d.class != wire.OK {
		s += fmt.Sprintf("; retry after %v", time.Duration(wait*float64(time.Second)).Round(time.Millisecond))
	}
	return s
}
