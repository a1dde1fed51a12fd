package layers

import (
	"fmt"

	"herdlab/strategies"
)

// SingleFlight lets one of several calls that ask the same at the same time go
// to the provider, and gives the others its answer, or its failure. Questions are
// equal if prompt, model and cap on the output are; those of prompt 0 are like no
// other.
//
// It is right where many ask at once what one answer serves, as when a cache's
// entry runs out: a thousand equal questions are one request. It costs their
// independence: they all wait for the same slow answer and fail by the same
// failure, so put a retry loop inside, or hedge. (golang.org/x/sync/singleflight.)
type SingleFlight struct {
	// Scope is who can meet, PerClient or wider; Name tells flights apart that
	// everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (f SingleFlight) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	b.AsksDemand()
	s, err := b.Flight(strategies.Flight{Scope: f.Scope, Name: f.Name, Key: flightNumber, ByPrompt: true}, inner)
	if err != nil {
		return nil, fmt.Errorf("single flight: %w", err)
	}
	return s, nil
}

// flightNumber is the prompt, unless model or cap are other than usual; 0 if the
// question is like no other.
func flightNumber(c *strategies.Call) uint32 {
	if c.Demand.Prompt == 0 {
		return 0
	}
	how := uint64(c.Target.Model)<<32 | uint64(c.Demand.MaxTokens)
	return max(1, c.Demand.Prompt^uint32(scramble(how)>>32)) // scramble(0) is 0
}
