package serve

import (
	"time"

	"herdlab/mockprovider/wire"
)

// maxDecisions is the number of decisions that are kept.
const maxDecisions = 1024

// Decision records how one request ended, and why.
type Decision struct {
	// N counts decisions from 1. ID is the request ID in the reply.
	N  uint64 `json:"n"`
	ID string `json:"id"`
	// At is the time of arrival and Wait the time until the end, in seconds on the
	// provider's clock.
	At   float64 `json:"t"`
	Wait float64 `json:"wait"`
	// Tenant is a hash of the API key; Account is the account that is charged.
	Tenant  string `json:"tenant"`
	Account uint32 `json:"account"`
	Dialect string `json:"dialect"`
	Model   string `json:"model"`
	Attempt uint32 `json:"attempt"`
	Stream  bool   `json:"stream,omitempty"`
	// Class is the actual class; Shown is the class that the reply shows, if it is
	// another one.
	Class string `json:"class"`
	Shown string `json:"shown,omitempty"`
	// Status is the HTTP status, 0 if there was no reply; Code the business code.
	Status uint16 `json:"status"`
	Code   int32  `json:"code,omitempty"`
	// RetryAfter is the wait that the reply asks for, in seconds; null if none.
	RetryAfter *float64 `json:"retry_after"`
	// Limit and Remaining are the values in the reply.
	Limit     int32  `json:"limit,omitempty"`
	Remaining int32  `json:"remaining,omitempty"`
	Tokens    uint32 `json:"tokens,omitempty"`
	// InFlight and Queued are the numbers of other requests in flight and in the
	// queue at the time of the decision.
	InFlight int `json:"in_flight"`
	Queued   int `json:"queued"`
	// Limits is the actual usage of the limits, if a limit refused the request. The
	// values in the reply may differ.
	Limits []Standing `json:"limits,omitempty"`
	// Faults is the number of active faults, which may be the cause.
	Faults int `json:"faults,omitempty"`
	// Why explains the decision in a sentence.
	Why string `json:"why"`
}

// decision is the compact form of a Decision.
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
	reason           string // of a request that did not reach the provider
}

// decisions is a ring of the last decisions.
type decisions struct {
	ring [maxDecisions]decision
	n    uint64
}

func (d *decisions) add(n *decision) {
	d.n++
	n.n = d.n
	d.ring[d.n%maxDecisions] = *n
}

// latest returns up to limit decisions that pass, the newest first.
func (d *decisions) latest(limit int, pass func(*decision) bool) []Decision {
	all := []Decision{}
	for n := d.n; n > 0 && n+maxDecisions > d.n && len(all) < limit; n-- {
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

// hint returns the wait that the reply asks for, in seconds.
func (d *decision) hint() (float64, bool) {
	r := &d.end.Reply
	switch {
	case d.end.Kind != wire.Replied || r.Hint.Value == wire.NoHint:
		return 0, false
	case r.Hint.Spelling.Dated():
		return (r.Hint.Value - d.at).Seconds(), true
	}
	return r.Hint.Value.Seconds(), true
}
