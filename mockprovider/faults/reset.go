package faults

import (
	"fmt"

	"herdlab/mockprovider"
)

// Reset is a connection that breaks, so that its client notices: before the
// head of the reply, when the request arrives or when its work is done, or
// just after the head. To a client that has already received something, such as
// tokens, it is a truncated answer: see Spoil and wire.TruncatedBody.
type Reset struct {
	When Stage `about:"At which stage the connection is closed."`
}

// Name implements Disturbance.
func (Reset) Name() string { return "reset" }

// Validate implements Disturbance.
func (d Reset) Validate() error {
	if d.When >= numStages {
		return fmt.Errorf("there is no stage %d", d.When)
	}
	return nil
}

// Hooks implements Disturbance.
func (d Reset) Hooks(mockprovider.Space) mockprovider.Hooks {
	switch d.When {
	case AtArrival:
		return mockprovider.Hooks{Arrive: func(a *mockprovider.Arrival) { a.Disconnect(0) }}
	case AfterHead:
		return mockprovider.Hooks{Work: endAfterHead, End: func(e *mockprovider.End) {
			tokens := uint32(0)
			if e.Request.Stream {
				tokens = e.Work.Tokens
			}
			e.Disconnect(tokens)
		}}
	}
	return mockprovider.Hooks{Work: endBeforeHead, End: func(e *mockprovider.End) { e.Disconnect(0) }}
}
