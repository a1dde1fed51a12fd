package mockprovider

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// Config describes a provider. The zero value answers everything at once.
type Config struct {
	// RejectKeys are the keys that authentication refuses with BadKey, before
	// any limit is asked.
	RejectKeys []uint8
	BadKey     Refusal
	// Limits are the limits in the order in which they decide. The Terms of each
	// state whether it gives back what it has counted when a later one, or
	// capacity, refuses.
	Limits []Limit
	// ReportedLimit is the number, from 1, of the limit that successes describe: its
	// size, what remains of it, and when it is whole again; 0 is none.
	ReportedLimit int
	Capacity
	// Models and Regions are what a target may name; without models, or regions,
	// all targets mean the same. Each model is served in each region by slots of
	// its own, with a queue of its own.
	Models  []ModelConfig
	Regions []RegionConfig
	// Abandoned is when it notices that a client has hung up.
	Abandoned Notice
	// RefusalTime is how long a refusal takes, whatever its reason.
	RefusalTime time.Duration
	// Faults disturb it. See Outage for the plainest of them.
	Faults []Fault
	// Space is how many accounts, keys, addresses, models and regions there
	// are. Authentication refuses accounts beyond it.
	Space
	// Forms are the forms of replies where a Refusal has none of its own;
	// wire.Plain if nil.
	Forms *wire.Forms
}

// Validate reports every error of the configuration.
func (c *Config) Validate() error {
	var errs []error
	check := func(what string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
	}
	for i, l := range c.Limits {
		where := fmt.Sprintf("limit %d", i+1)
		if l == nil {
			check(where, errors.New("it is nil; leave it out"))
			continue
		}
		check(where, l.Validate())
		check(where, c.countable(l))
	}
	if c.ReportedLimit < 0 || c.ReportedLimit > len(c.Limits) {
		check("tells", fmt.Errorf("there is no limit %d; use 1 to %d, or 0 for none", c.ReportedLimit, len(c.Limits)))
	}
	for i := range c.Faults {
		check(fmt.Sprintf("fault %d", i+1), c.checkFault(&c.Faults[i]))
	}
	check("bad key", c.BadKey.Validate())
	c.Capacity.validate(check)
	c.validateModels(check)
	check("abandoned", c.Abandoned.validate())
	if c.RefusalTime < 0 || c.RefusalTime > longest {
		check("refusal time", fmt.Errorf("it must be 0 to %v, not %v", longest, c.RefusalTime))
	}
	check("space", c.Space.validate())
	return errors.Join(errs...)
}
