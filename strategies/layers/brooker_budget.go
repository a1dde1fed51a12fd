package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// BrookerBudget is the adaptive retry of M. Brooker: a small bucket to which each
// call adds a little and from which each retry takes a whole token, if it holds
// more than one. In an outage, n calls of one client make 1 + Deposit/1000 + (Size
// − 1)/n attempts each: with 0.1 and 5 tokens, 1.1 + 4/n.
//
// Use it where clients are few and busy; where many clients make few calls each,
// every client has its whole bucket to spend ("Fixing retries with token buckets
// and circuit breakers", 2022-02-28).
type BrookerBudget struct {
	// Size is the number of tokens that the bucket holds, 1 to 1,000,000; it starts
	// full. In Brooker's text it is 5.
	Size int `unit:"tokens" least:"1" most:"1000000" required:"5" about:"How many tokens the bucket holds; it starts full, and each retry takes one."`
	// Deposit is what is added, in thousandths of a token, 0 to 1,000,000,000; in
	// Brooker's text it is 100.
	Deposit int `unit:"thousandths" most:"1000000000" default:"0" about:"How much of a token each call adds; Brooker's own is 100."`
	// OnSuccess makes the deposit when an attempt succeeds, as in Brooker's text,
	// and not when a call begins, as in his program.
	OnSuccess bool `about:"Whether successes add to the bucket in place of calls."`
	// Scope sets which clients share the budget, PerClient or wider. Name
	// identifies a budget with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (k BrookerBudget) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if k.Size < 1 || k.Size > 1e6 || k.Deposit < 0 || k.Deposit > 1e9 {
		return nil, fmt.Errorf("brooker budget: size must be 1 to 1000000 and deposit 0 to 1000000000, not %d and %d", k.Size, k.Deposit)
	}
	missing, err := b.ReserveShared(k.Scope, 1, "brooker budget", k.Name, fmt.Sprintf("%+v", k))
	if err != nil {
		return nil, fmt.Errorf("brooker budget: %w", err)
	}
	return withBudget(b, &brookerBudget{BrookerBudget: k, missing: missing}, inner)
}

// brookerBudget stores what is missing from a full bucket, in thousandths of a
// token.
type brookerBudget struct {
	unmoved
	BrookerBudget
	missing strategies.Slot
}

func (k *brookerBudget) deposit(c *strategies.Call) {
	missing := c.Word(k.missing, 0)
	*missing = max(0, *missing-int64(k.Deposit))
}

func (k *brookerBudget) began(_ time.Duration, c *strategies.Call) {
	if !k.OnSuccess && c.Attempts == 0 {
		k.deposit(c)
	}
}

func (k *brookerBudget) ended(c *strategies.Call, o *wire.Outcome, _ int64) {
	if k.OnSuccess && o.OK() {
		k.deposit(c)
	}
}

func (k *brookerBudget) allow(_ time.Duration, c *strategies.Call, _ wire.Class) (int64, bool) {
	missing := c.Word(k.missing, 0)
	if *missing+oneToken >= int64(k.Size)*oneToken {
		return 0, false
	}
	*missing += oneToken
	return oneToken, true
}
