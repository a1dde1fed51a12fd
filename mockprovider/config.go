package mockprovider

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
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
	// Slots is how many requests are served at a time, 0 for no bound; Queue
	// how many may wait for a slot. Full is the reply when there is no room.
	Slots, Queue int
	Full         Refusal
	Service      Service
	// RefusalTime is how long a refusal takes, whatever its reason.
	RefusalTime time.Duration
	// Outages may overlap: where they do, the last in the list speaks.
	Outages []Outage
	// Accounts is how many accounts there are; authentication refuses others.
	// 0 means that accounts are not told apart: all requests are one account's.
	Accounts int
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
	if c.Accounts < 0 || uint64(c.Accounts) > math.MaxUint32 {
		check("accounts", fmt.Errorf("there must be 0 to %d, not %d", math.MaxUint32, c.Accounts))
	}
	return errors.Join(errs...)
}

// withForms returns a copy of c, independent of the caller's, in which every
// refusal has a form.
func (c Config) withForms() Config {
	c.BadKey, c.Full = c.BadKey.or(As401), c.Full.or(As503)
	c.Outages = slices.Clone(c.Outages)
	for i := range c.Outages {
		c.Outages[i].Refusal = c.Outages[i].Refusal.or(As503)
	}
	return c
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
