package faults

import (
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// Refuse is an outage by refusal: the provider replies to all requests that it
// is overloaded. An exact hint covers the time until no fault refuses the request any
// more, the ones that follow on this included.
type Refuse struct {
	Refusal mockprovider.Refusal `key:"reply" about:"How requests are refused."`
}

// Name implements Disturbance.
func (Refuse) Name() string { return "outage" }

// Validate implements Disturbance.
func (d Refuse) Validate() error { return d.Refusal.Validate() }

// Hooks implements Disturbance.
func (d Refuse) Hooks(mockprovider.Space) mockprovider.Hooks {
	return refusing(wire.Overloaded, d.Refusal)
}

// refusing returns the hooks of a fault that refuses arrivals for that reason, in
// that form.
func refusing(class wire.Class, refusal mockprovider.Refusal) mockprovider.Hooks {
	return mockprovider.Hooks{Refuses: true, Arrive: func(a *mockprovider.Arrival) { a.Refuse(class, &refusal) }}
}

// Outage is the fault during which the provider refuses every arrival. Work
// that is queued or in service is carried on.
func Outage(from, to time.Duration, refusal mockprovider.Refusal) mockprovider.Fault {
	return mockprovider.Fault{From: from, To: to, Does: Refuse{Refusal: refusal}}
}
