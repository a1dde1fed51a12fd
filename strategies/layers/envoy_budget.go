package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// EnvoyBudget bounds the number of calls that retry at a time by a share of all
// calls under way, with a floor: retrying + 1 ≤ max(Floor, Percent of the calls). A
// call is under way from its first attempt until it settles, its waits included. It
// counts as retrying from the decision of the loop to retry until the end of that
// attempt.
//
// Use it at a proxy that sees all traffic: it needs no clock and no memory of past
// calls. It bounds the retries at a time, not their number in the course of an
// outage. (Envoy's documentation: 20 % and a floor of 3.)
type EnvoyBudget struct {
	// Percent is the share of the calls under way that may be retrying, 0 to 1000
	// %; Envoy's default is 20.
	Percent int `unit:"%" most:"1000" default:"0%" about:"Which share of the calls under way may be retrying at a time; Envoy's own default is 20."`
	// Floor is the number of calls that may always be retrying; Envoy's default is
	// 3. Percent and Floor must not both be 0.
	Floor int `unit:"calls" default:"0" about:"How many calls may always be retrying; Envoy's own default is 3."`
	// InFlightOnly takes the share of the attempts in flight, without calls that
	// wait to retry, as Envoy does: then a single failed call may never retry by
	// its share (envoyproxy/envoy#30205).
	InFlightOnly bool `about:"Whether the share is of the attempts in flight, without calls that wait, as in Envoy."`
	// Scope sets which clients share the budget, PerClient or wider. Name
	// identifies a budget with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (v EnvoyBudget) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if v.Percent < 0 || v.Percent > 1000 || v.Floor < 0 || v.Percent == 0 && v.Floor == 0 {
		return nil, fmt.Errorf("envoy budget: percent must be 0 to 1000 and floor at least 0, and one of them positive, not %d and %d", v.Percent, v.Floor)
	}
	counts, err := b.ReserveShared(v.Scope, 3, "envoy budget", v.Name, fmt.Sprintf("%+v", v))
	if err != nil {
		return nil, fmt.Errorf("envoy budget: %w", err)
	}
	return withBudget(b, &envoyBudget{v, counts}, inner)
}

// The words of an envoyBudget count the calls under way, the calls that are
// retrying, and those of the latter that still wait.
type envoyBudget struct {
	EnvoyBudget
	counts strategies.Slot
}

func (v *envoyBudget) began(_ time.Duration, c *strategies.Call) { *c.Word(v.counts, 0)++ }

func (v *envoyBudget) allow(_ time.Duration, c *strategies.Call, _ wire.Class) (int64, bool) {
	calls, retrying, waiting := *c.Word(v.counts, 0), c.Word(v.counts, 1), c.Word(v.counts, 2)
	if v.InFlightOnly {
		calls -= *waiting + 1 // the call itself is not in flight either
	}
	if wanted := *retrying + 1; wanted > int64(v.Floor) && 100*wanted > int64(v.Percent)*calls {
		return 0, false
	}
	*retrying++
	*waiting++
	return 1, true
}

func (v *envoyBudget) waited(c *strategies.Call) { *c.Word(v.counts, 2)-- }

func (v *envoyBudget) ended(c *strategies.Call, _ *wire.Outcome, charged int64) {
	*c.Word(v.counts, 1) -= charged
}

func (v *envoyBudget) over(c *strategies.Call, charged int64) {
	*c.Word(v.counts, 0)--
	*c.Word(v.counts, 1) -= charged
}
