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

// Stall is a stream that stops after some tokens: its head leaves with the
// first of them, then nothing more comes, and not the end either. The slot stays
// taken for as long as the whole answer takes. Without tokens no head leaves, and
// what is not a stream is not answered at all.
type Stall struct {
	Tokens uint32 `unit:"tokens" default:"0" about:"After how many tokens a stream stops."`
}

// Name implements Disturbance.
func (Stall) Name() string { return "stall" }

// Validate implements Disturbance.
func (Stall) Validate() error { return nil }

// Hooks implements Disturbance.
func (d Stall) Hooks(mockprovider.Space) mockprovider.Hooks {
	return mockprovider.Hooks{
		Work: func(w *mockprovider.Work, r *wire.Request, _ draw.Rand) {
			if w.Withheld = w.Tokens; r.Stream && d.Tokens > 0 {
				w.Withheld -= min(d.Tokens, w.Tokens)
			} else {
				w.Head = mockprovider.NoHead
			}
		},
		End: func(e *mockprovider.End) {
			e.Reply.Class = wire.ServerError
			e.Drop(e.Work.Tokens - e.Work.Withheld)
		},
	}
}
