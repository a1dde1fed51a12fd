package serve

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// reasons say why a request was refused, to people.
var classTexts = [wire.NumClasses]string{
	wire.OK:           "answered",
	wire.Rate:         "the caller's limit on requests is used up",
	wire.TokenRate:    "the caller's limit on tokens is used up",
	wire.Concurrency:  "the caller has too many requests in flight",
	wire.Acceleration: "the caller's traffic grew too fast",
	wire.Overloaded:   "the provider is at capacity or out of service",
	wire.Quota:        "the caller's allowance is spent",
	wire.Auth:         "there is no key, or it is not valid",
	wire.Permission:   "the key may not do this",
	wire.BadRequest:   "the request can never succeed",
	wire.TooLarge:     "the request is larger than the model takes",
	wire.ServerError:  "the provider failed",
	wire.Timeout:      "the provider gave up on it",
	wire.Disconnected: "the connection was broken",
	wire.Cancelled:    "the client hung up",
}

// spoilings say what a fault has made of an answer.
var bodyTexts = [wire.NumBodies]string{
	wire.StreamError: "an error in the stream after the 200",
	wire.SilentEnd:   "the stream ended without its finish marker",
	wire.CutBody:     "the connection broke before the end",
	wire.Garbage:     "the body is no JSON",
	wire.WrongType:   "the body is an HTML page",
	wire.Doubled:     "the answer is there twice",
}

// why says in a sentence why the decision was as it was.
func (d *decision) explain() string {
	if d.reason != "" {
		return d.reason
	}
	r := &d.end.Reply
	switch d.end.Kind {
	case wire.Dropped:
		return "a fault: it will never be answered"
	case wire.Broke:
		return "a fault: the connection was broken"
	}
	s := classTexts[d.class]
	if spoilt := bodyTexts[r.Body]; spoilt != "" {
		s = "a fault: " + spoilt
	}
	switch {
	case d.class == wire.OK && r.Tokens > 0:
		s += fmt.Sprintf(", %d tokens", r.Tokens)
	case d.class == wire.Overloaded && d.queued > 0:
		s += fmt.Sprintf("; %d are queued", d.queued)
	case d.class != wire.OK && r.Limit > 0:
		s += fmt.Sprintf("; the reply says limit %d, remaining %d", r.Limit, r.Remaining)
	}
	for _, l := range d.standings.list[:d.standings.n] {
		s += fmt.Sprintf("; limit %d: %d of %d used", l.Limit, l.Used, l.Of)
		if l.Reset > 0 {
			s += fmt.Sprintf(", whole in %v", time.Duration(l.Reset*float64(time.Second)).Round(time.Millisecond))
		}
	}
	if d.faults > 0 && d.class != wire.OK && d.standings.n == 0 && bodyTexts[r.Body] == "" {
		s += "; a fault is in force"
	}
	if r.Marks&wire.DegradedReply != 0 {
		s += ", by a lesser model"
	}
	if r.Shown != r.Class {
		s += fmt.Sprintf("; it reads as %s", r.Shown)
	}
	if wait, ok := d.hint(); ok && d.class != wire.OK {
		s += fmt.Sprintf("; come back in %v", time.Duration(wait*float64(time.Second)).Round(time.Millisecond))
	}
	return s
}
