package mockprovider

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// Unreachable is a loss of the way to the provider, such as a region whose name
// no longer resolves: no request reaches it, and its client is told so. Where
// names the region.
type Unreachable struct {
	// After is how long the client takes to notice: a look-up that fails, a
	// connection that is refused or not made in time.
	After time.Duration
}

// Name implements Disturbance.
func (Unreachable) Name() string { return "unreachable" }

// Validate implements Disturbance.
func (d Unreachable) Validate() error {
	return validateLength("how long clients take to notice", d.After)
}

func (d Unreachable) hooks(Space) hooks { return hooks{arrive: ending(wire.Broke, d.After)} }

// Reset is a connection that breaks, so that its client notices: before the
// head of the reply, when the request arrives or when its work is done, or
// just after the head. To a client that knows of what it has got, such as a
// number of tokens, it is a truncated answer: see Spoil and wire.CutBody.
type Reset struct{ When Stage }

// Name implements Disturbance.
func (Reset) Name() string { return "reset" }

// Validate implements Disturbance.
func (d Reset) Validate() error {
	if d.When >= numStages {
		return fmt.Errorf("there is no stage %d", d.When)
	}
	return nil
}

func (d Reset) hooks(Space) hooks {
	breaks := func(_ *Provider, _ time.Duration, j *job, e *wire.Effect) {
		e.Kind, e.Reply.Class, e.Reply.Tokens = wire.Broke, wire.Disconnected, 0
		if d.When == AfterHead && j.req.Stream {
			e.Reply.Tokens = j.work.tokens
		}
	}
	switch d.When {
	case AtArrival:
		return hooks{arrive: ending(wire.Broke, 0)}
	case AfterHead:
		return hooks{end: breaks, work: (*work).endAfterHead}
	}
	return hooks{end: breaks, work: (*work).endBeforeHead}
}

// validateLength says what is wrong with a length of time of that name.
func validateLength(what string, d time.Duration) error {
	if d < 0 || d > longest {
		return fmt.Errorf("%s must be 0 to %v, not %v", what, longest, d)
	}
	return nil
}
