package faults

import (
	"time"

	"herdlab/mockprovider"
)

// Unreachable is a loss of the way to the provider, such as a region whose name
// no longer resolves: no request reaches it, and its client gets an error. Where
// names the region.
type Unreachable struct {
	// After is how long the client takes to notice: a look-up that fails, a
	// connection that is refused or not made in time.
	After time.Duration `default:"0s" about:"How long a client takes to notice."`
}

// Name implements Disturbance.
func (Unreachable) Name() string { return "unreachable" }

// Validate implements Disturbance.
func (d Unreachable) Validate() error {
	return mockprovider.ValidateDuration("how long clients take to notice", d.After)
}

// Hooks implements Disturbance.
func (d Unreachable) Hooks(mockprovider.Space) mockprovider.Hooks {
	return mockprovider.Hooks{Arrive: func(a *mockprovider.Arrival) { a.Disconnect(d.After) }}
}
