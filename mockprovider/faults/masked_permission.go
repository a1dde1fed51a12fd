package faults

import (
	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// MaskedPermission is a missing permission that reads as want of capacity:
// "Selected model is at capacity", until somebody grants it. Its form is the
// one that the provider has for Overloaded, or Refusal's.
type MaskedPermission struct {
	Refusal mockprovider.Refusal `key:"reply" about:"How requests are refused."`
}

// Name implements Disturbance.
func (MaskedPermission) Name() string { return "masked permission" }

// Validate implements Disturbance.
func (d MaskedPermission) Validate() error { return d.Refusal.Validate() }

// Unpredictable marks the fault: it does not compute when it would admit a request.
func (MaskedPermission) Unpredictable() {}

// Hooks implements Disturbance.
func (d MaskedPermission) Hooks(mockprovider.Space) mockprovider.Hooks {
	if d.Refusal.ShownAs == wire.OK {
		d.Refusal.ShownAs = wire.Overloaded
	}
	return refusing(wire.Permission, d.Refusal)
}
