package faults

import (
	"fmt"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// Expiry is a token that has expired, or lost its rights: from then on its
// owner is refused with Permission, which most providers write as 403, or with
// Auth (401) if that is the class. Where names the keys or accounts.
type Expiry struct {
	Class   wire.Class           `only:"permission auth" default:"permission" about:"The class of the refusals."`
	Refusal mockprovider.Refusal `key:"reply" about:"How requests are refused."`
}

// Name implements Disturbance.
func (Expiry) Name() string { return "expiry" }

// Validate implements Disturbance.
func (d Expiry) Validate() error {
	if d.Class != wire.OK && d.Class != wire.Permission && d.Class != wire.Auth {
		return fmt.Errorf("an expired token is refused as permission or auth, not as %v; use errors for that", d.Class)
	}
	return d.Refusal.Validate()
}

// Unpredictable marks the fault: it does not compute when it would admit a request.
func (Expiry) Unpredictable() {}

// Hooks implements Disturbance.
func (d Expiry) Hooks(mockprovider.Space) mockprovider.Hooks {
	if d.Class == wire.Auth {
		return refusing(wire.Auth, d.Refusal)
	}
	return refusing(wire.Permission, d.Refusal)
}
