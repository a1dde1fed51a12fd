package main

import (
	"errors"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// EveryNth is a fault: every n-th request that it is for gets an internal error.
type EveryNth struct {
	N       int64                `about:"Which requests fail: with 3, every third one." least:"1" required:"3"`
	Refusal mockprovider.Refusal `key:"reply" about:"How the errors are written."`
}

// Name implements mockprovider.Disturbance.
func (EveryNth) Name() string { return "partial outage" }

// Validate implements mockprovider.Disturbance.
func (e EveryNth) Validate() error {
	if e.N < 1 {
		return errors.New("n must be positive")
	}
	return e.Refusal.Validate()
}

// Hooks implements mockprovider.Disturbance.
func (e EveryNth) Hooks(mockprovider.Space) mockprovider.Hooks {
	seen := int64(0)
	return mockprovider.Hooks{Arrive: func(a *mockprovider.Arrival) {
		if seen++; seen%e.N == 0 {
			a.Refuse(wire.ServerError, &e.Refusal)
		}
	}}
}
