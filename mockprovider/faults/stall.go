package faults

import (
	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

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
