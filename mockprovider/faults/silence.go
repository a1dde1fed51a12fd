package faults

import (
	"errors"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Silence is a black hole: the request is never answered, and only its client's own
// timeout ends it. At arrival the request is lost and costs
// nothing; after the work it is the answer that is lost, so the slot and the
// quota were for nothing.
type Silence struct {
	When Stage `except:"after_head" about:"At which stage a request is affected."`
}

// Name implements Disturbance.
func (Silence) Name() string { return "silence" }

// Validate implements Disturbance.
func (d Silence) Validate() error {
	if d.When != AtArrival && d.When != AfterWork {
		return errors.New("silence falls at arrival or after the work; for a stream that falls silent, stall it")
	}
	return nil
}

// Hooks implements Disturbance.
func (d Silence) Hooks(mockprovider.Space) mockprovider.Hooks {
	if d.When == AtArrival {
		return mockprovider.Hooks{Arrive: (*mockprovider.Arrival).Drop}
	}
	return mockprovider.Hooks{
		Work: func(w *mockprovider.Work, _ *wire.Request, _ draw.Rand) {
			w.Head, w.Withheld = mockprovider.NoHead, w.Tokens
		},
		End: func(e *mockprovider.End) { e.Drop(0) },
	}
}
