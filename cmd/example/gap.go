package main

import (
	"errors"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// Gap is a limit: requests that are counted together must be at least Every apart.
type Gap struct {
	Every time.Duration `about:"The least time between two requests." required:"200ms"`
	mockprovider.Terms
}

// Validate implements mockprovider.Limit.
func (g Gap) Validate() error {
	if g.Every <= 0 {
		return errors.New("gap: the time must be positive")
	}
	return g.Terms.Validate()
}

// Bound implements mockprovider.Limit: one request in each gap, for each counter.
func (g Gap) Bound(load mockprovider.Load) mockprovider.Bound {
	return g.BoundOf(1, g.Every, &load)
}

// Gate implements mockprovider.Limit.
func (g Gap) Gate(space mockprovider.Space) mockprovider.Gate {
	return &gate{Gap: g, CounterIndex: g.Per.Index(space), next: make([]time.Duration, g.Counters(space))}
}

// gate is the state of a Gap: for each counter, when the next request may come.
type gate struct {
	Gap
	mockprovider.CounterIndex
	next []time.Duration
}

// Take implements mockprovider.Gate.
func (g *gate) Take(now time.Duration, r *wire.Request) bool {
	next := &g.next[g.Of(r)]
	if now < *next {
		return false
	}
	*next = now + g.Every
	return true
}

// Refuse implements mockprovider.Gate.
func (g *gate) Refuse(now time.Duration, r *wire.Request) mockprovider.Verdict {
	wait := g.next[g.Of(r)] - now
	return mockprovider.Verdict{Class: wire.Rate, Admission: mockprovider.AdmittedAfter(wait), Reset: wait}
}

// Form implements mockprovider.Gate. The terms have the form of refusals.
func (g *gate) Form(*wire.Request) *mockprovider.Refusal { return &g.Refusal }

// Undo implements mockprovider.Gate. A request that a later limit refuses counts if
// the terms keep it.
func (g *gate) Undo(now time.Duration, r *wire.Request) {
	if g.Keep == mockprovider.KeepNone {
		g.next[g.Of(r)] = now
	}
}

// Release implements mockprovider.Gate. The end of a request does not matter.
func (*gate) Release(time.Duration, *wire.Request, mockprovider.Ended) {}
