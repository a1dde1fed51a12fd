package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// AWSBudget is the retry quota of the AWS SDKs: a bucket that starts full, from
// which each retry takes its cost before it waits. A success after retries gives
// back what the last of them cost; a success at the first try gives 1.
//
// It is right for SDKs that many short-lived clients use: an outage costs each of
// them Capacity/Cost retries and no more, and no clock is needed. It empties only
// where failures are frequent: with cost 5 and three attempts, above a failure
// rate of 32 %. (botocore 1.43.67, retries/quota.py; the costs of newer SDKs
// differ.)
type AWSBudget struct {
	// Capacity is the size of the bucket; the SDKs' is 500.
	Capacity int `unit:"units" most:"1000000000" required:"500" about:"How much the bucket holds; it starts full."`
	// Cost is what a retry takes, 1 to Capacity: 5 in the standard mode, 14 since
	// 2026.
	Cost int `unit:"units" required:"5" about:"What a retry takes; a success gives it back."`
	// After failures of the classes Other a retry takes OtherCost instead: 10 after
	// timeouts in the standard mode, 5 after throttling since 2026.
	Other     strategies.Classes `without:"all retries cost the same" about:"The failures after which a retry takes other_cost."`
	OtherCost int                `unit:"units" without:"there are no such failures" about:"What a retry after such a failure takes; required with other."`
	// Scope is who shares it, PerClient or wider; Name tells budgets apart that
	// everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (a AWSBudget) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	switch {
	case a.Capacity < 1 || a.Capacity > 1e9:
		return nil, fmt.Errorf("aws budget: the capacity must be 1 to a billion, not %d", a.Capacity)
	case a.Cost < 1 || a.Cost > a.Capacity:
		return nil, fmt.Errorf("aws budget: the cost must be 1 to the capacity, not %d", a.Cost)
	case a.Other != 0 && (a.OtherCost < 1 || a.OtherCost > a.Capacity):
		return nil, fmt.Errorf("aws budget: the other cost must be 1 to the capacity, not %d", a.OtherCost)
	}
	missing, err := b.ReserveShared(a.Scope, 1, "aws budget", a.Name, fmt.Sprintf("%+v", a))
	if err != nil {
		return nil, fmt.Errorf("aws budget: %w", err)
	}
	return withBudget(b, &awsBudget{AWSBudget: a, missing: missing}, inner)
}

// awsBudget knows what is missing from a full bucket.
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
