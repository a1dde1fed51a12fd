package faults

import (
	"errors"
	"fmt"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

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

// Unpredictable marks the fault: it does not compute when it would admit a request.
func (Errors) Unpredictable() {}

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
