package serve

import (
	"time"

	"herdlab/mockprovider/wire"
)

// tail is how many decisions are remembered.
const maxDecisions = 1024

// Decision is how one request ended, and why: the answer to "why was I
// refused?".
type Decision struct {
	// N counts decisions from 1. ID is the request id that the client has.
	N  uint64 `json:"n"`
	ID string `json:"id"`
	// At is when the request arrived and Wait how long it took, in seconds on
	// the provider's clock.
	At   float64 `json:"t"`
	Wait float64 `json:"wait"`
	// Tenant stands for the API key, Account is who is charged.
	Tenant  string `json:"tenant"`
	Account uint32 `json:"account"`
	Dialect string `json:"dialect"`
	Model   string `json:"model"`
	Attempt uint32 `json:"attempt"`
	Stream  bool   `json:"stream,omitempty"`
	// Class is the truth and Shown what the reply says to who reads all of it.
	Class string `json:"class"`
	Shown string `json:"shown,omitempty"`
	// Status is the HTTP status, 0 if there was no reply; Code the business code.
	Status uint16 `json:"status"`
	Code   int32  `json:"code,omitempty"`
	// RetryAfter is the wait that the reply asks for, in seconds; null if none.
	RetryAfter *float64 `json:"retry_after"`
	// Limit and Remaining are what the reply says of a limit.
	Limit     int32  `json:"limit,omitempty"`
	Remaining int32  `json:"remaining,omitempty"`
	Tokens    uint32 `json:"tokens,omitempty"`
	// InFlight and Queued are how many other requests were under way and in the
	// queue when the decision was made.
	InFlight int `json:"in_flight"`
	Queued   int `json:"queued"`
	// Limits is how the caller stood with the limits, where they refused: the
	// truth, whatever the reply says of it.
	Limits []Standing `json:"limits,omitempty"`
	// Faults is how many faults were in force, one of which it may have met.
	Faults int `json:"faults,omitempty"`
	// Why says it in a sentence.
	Why string `json:"why"`
}

// decision is the same, compactly.
type decision struct {
	n                uint64
	request          wire.Request
	end              wire.Effect
	from             origin
	class            wire.Class
	arrived, at      time.Duration
	inFlight, queued int
	faults           int
	standings        standings
	reason           string // why, if it is not the provider's decision
}

// decisions is the last ones, a ring.
type decisions struct {
	ring [maxDecisions]decision
	n    uint64
}

func (d *decisions) add(n *decision) {
	d.n++
	n.n = d.n
	d.ring[d.n%maxDecisions] = *n
}

// list returns up to most decisions, the newest first, of those that pass.
func (d *decisions) latest(most int, pass func(*decision) bool) []Decision {
	all := []Decision{}
	for n := d.n; n > 0 && n+maxDecisions > d.n && len(all) < most; n-- {
		if e := &d.ring[n%maxDecisions]; pass(e) {
			all = append(all, e.export())
		}
	}
	return all
}

func (d *decision) export() Decision {
	r := &d.end.Reply
	s := Decision{
		N: d.n, ID: d.from.id, At: d.arrived.Seconds(), Wait: (d.at - d.arrived).Seconds(),
		Tenant: d.from.tenant, Account: d.request.Account, Dialect: d.from.dialect, Model: d.from.model,
		Attempt: d.request.Attempt, Stream: d.request.Stream, Class: d.class.String(), Status: r.Status, Code: r.Code,
		Limit: r.Limit, Remaining: r.Remaining, Tokens: r.Tokens, InFlight: d.inFlight, Queued: d.queued, Faults: d.faults, Why: d.explain(),
	}
	if r.Shown != r.Class {
		s.Shown = r.Shown.String()
	}
	if d.standings.n > 0 {
		s.Limits = d.standings.list[:d.standings.n:d.standings.n]
	}
	if wait, ok := d.hint(); ok {
		s.RetryAfter = &wait
	}
	return s
}

// hint is the wait that the reply asks for, in seconds.
func (d *decision) hint() (float64, bool) {
	r := &d.end.Reply
	switch {
	case d.end.Kind != wire.Replied || r.RetryAfter == wire.NoHint:
		return 0, false
	case r.Spelled.Dated():
		return (r.RetryAfter - d.at).Seconds(), true
	}
	return r.RetryAfter.Seconds(), true
}
