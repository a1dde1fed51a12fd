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
	// Limits are the gates in the order in which they are asked. What earlier
	// gates have counted when a later one, or capacity, refuses is given back;
	// with KeepOnRefusal it stays spent. Permits come back either way, because
	// no work holds them.
	Limits        []Limit
	KeepOnRefusal bool
	Capacity
	// RefusalTime is how long a refusal takes, whatever its reason.
	RefusalTime time.Duration
	// Outages may overlap: where they do, the last in the list speaks.
	Outages []Outage
	// Space is how many accounts, keys, addresses, models and regions there
	// are. Authentication refuses accounts beyond it.
	Space
	// Forms is how the provider puts its replies where nothing else is said;
	// wire.Plain if nil.
	Forms *wire.Forms
}

// Capacity is what serves requests, and for how long.
type Capacity struct {
	// Slots is how many requests are served at a time, 0 for no bound; Queue
	// how many may wait for a slot. Full is the reply when there is no room.
	Slots, Queue int
	Full         Refusal
	Service      Service
}

// Validate says everything that is wrong with the configuration.
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
	}
	for i, o := range c.Outages {
		check(fmt.Sprintf("outage %d", i+1), o.Validate())
	}
	check("bad key", c.BadKey.Validate())
	check("full", c.Full.Validate())
	check("service", c.Service.Validate())
	switch {
	case c.Slots < 0 || c.Queue < 0:
		check("capacity", errors.New("slots and queue must not be negative"))
	case c.Slots == 0 && c.Queue > 0:
		check("capacity", errors.New("a queue needs a bounded number of slots"))
	}
	if c.RefusalTime < 0 || c.RefusalTime > longest {
		check("refusal time", fmt.Errorf("it must be 0 to %v, not %v", longest, c.RefusalTime))
	}
	check("space", c.Space.validate())
	return errors.Join(errs...)
}

// FaultSpan returns when the first fault begins and the last one ends; both 0
// if there are none.
func (c *Config) FaultSpan() (begin, end time.Duration) {
	for i, o := range c.Outages {
		if i == 0 || o.From < begin {
			begin = o.From
		}
		end = max(end, o.To)
	}
	return begin, end
}
