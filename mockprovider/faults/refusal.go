package faults

import (
	"errors"
	"fmt"
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

// Errors are errors of some class: with a Probability, an error rate. ServerError
// if no class is given.
type Errors struct {
	Class   wire.Class           `except:"ok disconnected cancelled" default:"server_error" about:"The class of the errors."`
	Refusal mockprovider.Refusal `key:"reply" about:"How the errors are written."`
	// When is AtArrival, or AfterWork for errors that have cost quota and a
	// slot.
	When Stage `except:"after_head" about:"At which stage a request is affected."`
}

// Name implements Disturbance.
func (Errors) Name() string { return "errors" }

// Unpredictable marks the fault: it does not compute when it would admit a request.
func (Errors) Unpredictable() {}

// Validate implements Disturbance.
func (d Errors) Validate() error {
	switch d.Class {
	case wire.Timeout, wire.OK: // a gateway's timeout is a reply too; OK stands for ServerError
	case wire.ConnectionLost, wire.Cancelled:
		return fmt.Errorf("no provider replies %v; use reset or silence", d.Class)
	default:
		if d.Class >= wire.NumClasses {
			return fmt.Errorf("there is no class %v", d.Class)
		}
	}
	if d.When != AtArrival && d.When != AfterWork {
		return errors.New("an error comes at arrival or after the work; for one in the middle of a stream, spoil the answer")
	}
	return d.Refusal.Validate()
}

// Hooks implements Disturbance.
func (d Errors) Hooks(mockprovider.Space) mockprovider.Hooks {
	class := d.Class
	if class == wire.OK {
		class = wire.ServerError
	}
	if d.When == AtArrival {
		return refusing(class, d.Refusal)
	}
	return mockprovider.Hooks{Work: endBeforeHead, End: func(e *mockprovider.End) { e.Refuse(class, &d.Refusal) }}
}

// Expiry is a token that has expired, or lost its rights: from then on its
// owner is refused with Permission, which most providers write as 403, or with
// Auth (401) if that is the class. Where names the keys or accounts.
type Expiry struct {
	Class   wire.Class           `only:"permission auth" default:"permission" about:"The class of the refusals."`
	Refusal mockprovider.Refusal `key:"reply" about:"How requests are refused."`
}

// Name implements Disturbance.
func (Expiry) Name() string { return "expiry" }

// Unpredictable marks the fault: it does not compute when it would admit a request.
func (Expiry) Unpredictable() {}

// Validate implements Disturbance.
func (d Expiry) Validate() error {
	if d.Class != wire.OK && d.Class != wire.Permission && d.Class != wire.Auth {
		return fmt.Errorf("an expired token is refused as permission or auth, not as %v; use errors for that", d.Class)
	}
	return d.Refusal.Validate()
}

// Hooks implements Disturbance.
func (d Expiry) Hooks(mockprovider.Space) mockprovider.Hooks {
	if d.Class == wire.Auth {
		return refusing(wire.Auth, d.Refusal)
	}
	return refusing(wire.Permission, d.Refusal)
}

// MaskedPermission is a missing permission that reads as want of capacity:
// "Selected model is at capacity", until somebody grants it. Its form is the
// one that the provider has for Overloaded, or Refusal's.
type MaskedPermission struct {
	Refusal mockprovider.Refusal `key:"reply" about:"How requests are refused."`
}

// Name implements Disturbance.
func (MaskedPermission) Name() string { return "masked permission" }

// Unpredictable marks the fault: it does not compute when it would admit a request.
func (MaskedPermission) Unpredictable() {}

// Validate implements Disturbance.
func (d MaskedPermission) Validate() error { return d.Refusal.Validate() }

// Hooks implements Disturbance.
func (d MaskedPermission) Hooks(mockprovider.Space) mockprovider.Hooks {
	if d.Refusal.ShownAs == wire.OK {
		d.Refusal.ShownAs = wire.Overloaded
	}
	return refusing(wire.Permission, d.Refusal)
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
