package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// AWSBudget is the retry quota of the AWS SDKs: a bucket that starts full, from
// which each retry takes its cost before it waits. A success after retries returns
// the cost of the last of them; a success at the first attempt returns 1.
//
// Use it in SDKs of many short-lived clients: an outage causes at most
// Capacity/Cost retries of each client, and no clock is needed. The bucket empties
// only where failures are frequent: with cost 5 and three attempts, above a failure
// rate of 32 %. (botocore 1.43.67, retries/quota.py; the costs of newer SDKs
// differ.)
type AWSBudget struct {
	// Capacity is the size of the bucket, 1 to 1,000,000,000 units; in the SDKs it
	// is 500.
	Capacity int `unit:"units" most:"1000000000" required:"500" about:"How much the bucket holds; it starts full."`
	// Cost is what a retry takes, 1 to Capacity units: 5 in the standard mode, 14
	// since 2026.
	Cost int `unit:"units" required:"5" about:"What a retry takes; a success gives it back."`
	// Other is the set of classes after which a retry takes OtherCost in place of
	// Cost, 1 to Capacity units: 10 after timeouts in the standard mode, 5 after
	// throttling since 2026.
	Other     strategies.Classes `without:"all retries cost the same" about:"The failures after which a retry takes other_cost."`
	OtherCost int                `unit:"units" without:"there are no such failures" about:"What a retry after such a failure takes; required with other."`
	// Scope sets which clients share the budget, PerClient or wider. Name
	// identifies a budget with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (a AWSBudget) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	switch {
	case a.Capacity < 1 || a.Capacity > 1e9:
		return nil, fmt.Errorf("aws budget: capacity must be 1 to 1000000000, not %d", a.Capacity)
	case a.Cost < 1 || a.Cost > a.Capacity:
		return nil, fmt.Errorf("aws budget: cost must be 1 to the capacity, not %d", a.Cost)
	case a.Other != 0 && (a.OtherCost < 1 || a.OtherCost > a.Capacity):
		return nil, fmt.Errorf("aws budget: other_cost must be 1 to the capacity, not %d", a.OtherCost)
	}
	missing, err := b.ReserveShared(a.Scope, 1, "aws budget", a.Name, fmt.Sprintf("%+v", a))
	if err != nil {
		return nil, fmt.Errorf("aws budget: %w", err)
	}
	return withBudget(b, &awsBudget{AWSBudget: a, missing: missing}, inner)
}

// awsBudget stores what is missing from a full bucket, so that zeroed memory is a
// full one.
type awsBudget struct {
	unmoved
	AWSBudget
	missing strategies.Slot
}

func (a *awsBudget) allow(_ time.Duration, c *strategies.Call, class wire.Class) (int64, bool) {
	cost := int64(a.Cost)
	if a.Other.Has(class) {
		cost = int64(a.OtherCost)
	}
	missing := c.Word(a.missing, 0)
	if *missing+cost > int64(a.Capacity) {
		return 0, false
	}
	*missing += cost
	return cost, true
}

func (a *awsBudget) ended(c *strategies.Call, o *wire.Outcome, charged int64) {
	if o.OK() {
		missing := c.Word(a.missing, 0)
		*missing = max(0, *missing-max(charged, 1))
	}
}
