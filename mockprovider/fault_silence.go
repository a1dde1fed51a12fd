package mockprovider

import (
	"errors"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Silence is a black hole: who falls into it is never answered, and learns of
// it from his own timeout only. At arrival the request is lost and costs
// nothing; after the work it is the answer that is lost, so the slot and the
// quota were for nothing.
type Silence struct{ When Stage }

// Name implements Disturbance.
func (Silence) Name() string { return "silence" }

// Validate implements Disturbance.
func (d Silence) Validate() error {
	if d.When != AtArrival && d.When != AfterWork {
		return errors.New("silence falls at arrival or after the work; for a stream that falls silent, stall it")
	}
	return nil
}

func (d Silence) hooks(Space) hooks {
	if d.When == AtArrival {
		return hooks{arrive: ending(wire.Dropped, 0)}
	}
	return hooks{
		work: func(w *work, _ bool, _ draw.Rand) { w.head, w.withheld = noHead, w.tokens },
		end: func(_ *Provider, _ time.Duration, _ *job, e *wire.Effect) {
			e.Kind, e.Reply.Tokens = wire.Dropped, 0
		},
	}
}

// Stall is a stream that stops after so many tokens: its head leaves with the
// first of them, then nothing more comes, and not the end either. The slot stays
// taken for as long as the whole answer takes. Without tokens no head leaves, and
// what is not a stream is not answered at all.
type Stall struct{ Tokens uint32 }

// Name implements Disturbance.
func (Stall) Name() string { return "stall" }

// Validate implements Disturbance.
func (Stall) Validate() error { return nil }

func (d Stall) hooks(Space) hooks {
	return hooks{
		work: func(w *work, stream bool, _ draw.Rand) {
			if w.withheld = w.tokens; stream && d.Tokens > 0 {
				w.withheld -= min(d.Tokens, w.tokens)
			} else {
				w.head = noHead
			}
		},
		end: func(_ *Provider, _ time.Duration, j *job, e *wire.Effect) {
			e.Kind, e.Reply.Class, e.Reply.Tokens = wire.Dropped, wire.ServerError, j.work.tokens-j.work.withheld
		},
	}
}

// ending is an arrive hook that ends the ticket at once with an effect of that
// kind, which its client notices so much later.
func ending(kind wire.EffectKind, after time.Duration) func(*Provider, time.Duration, *fault, *wire.Input, []wire.Effect) ([]wire.Effect, bool) {
	return func(_ *Provider, _ time.Duration, _ *fault, in *wire.Input, out []wire.Effect) ([]wire.Effect, bool) {
		out, e := add(out)
		e.Kind, e.Ticket, e.After = kind, in.Ticket, after
		return out, true
	}
}
