package layers

import (
	"fmt"

	"herdlab/strategies"
)

// SingleFlight sends one request for several equal calls that are under way at the
// same time, and gives the others its answer, or its failure. Calls are equal if
// prompt, model and cap on the output are equal; calls with prompt 0 are equal to
// no other.
//
// Use it where one answer serves many calls at once, as when an entry of a cache
// expires: a thousand equal calls are one request. The calls depend on each other:
// they all wait for the same slow answer and fail with the same failure, so put a
// retry loop or a hedge inside. (golang.org/x/sync/singleflight.)
type SingleFlight struct {
	// Scope sets which clients' calls share a request, PerClient or wider. Name
	// identifies the shared flights of the scope PerEveryone.
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

// flightNumber returns the key of the shared flight: the prompt, hashed with model
// and cap if these are not 0; 0 if the call is equal to no other.
func flightNumber(c *strategies.Call) uint32 {
	if c.Demand.Prompt == 0 {
		return 0
	}
	how := uint64(c.Target.Model)<<32 | uint64(c.Demand.MaxTokens)
	return max(1, c.Demand.Prompt^uint32(scramble(how)>>32)) // scramble(0) is 0
}
