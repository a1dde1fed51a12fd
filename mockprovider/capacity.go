package mockprovider

import (
	"errors"
	"fmt"
)

// Capacity is what serves requests, and for how long.
type Capacity struct {
	// Slots is how many requests are served at a time, 0 for no bound; Queue
	// how many may wait for a slot. Full is the reply when there is no room, and
	// to a request that is dropped from the queue.
	Slots   int     `unit:"slots" least:"1" without:"there is no bound" about:"How many requests are served at a time."`
	Queue   int     `unit:"requests" default:"0" about:"How many requests may wait for a slot."`
	Full    Refusal `about:"How a request is refused that finds no room."`
	Service Service `required:"2s" about:"How long a request holds its slot."`
	// Discipline is how the queue is served.
	Discipline Discipline `about:"In which order the queue is served, and what leaves it."`
	// Unit makes the slots a pool of tokens: a request takes one for every Unit
	// tokens of its prompt and answer, the last begun one included. 0 gives each
	// request one slot.
	Unit uint32 `unit:"tokens" without:"each request takes one slot" about:"Makes the slots a pool: a request takes one slot for each of this number of its tokens, or a part of it."`
	// Overload is what load does to requests.
	Overload Overload `about:"What load does to requests."`
	// Autoscale, if not nil, makes the number of slots follow the load; Slots
	// is how many there are at first.
	Autoscale *Autoscale `without:"the slots stay as they are" about:"Makes the number of slots follow the load."`
	// Day is a factor on the slots, by time; 1 if left out.
	Day Schedule `default:"1" about:"A factor on the slots, by time."`
}

// most bounds slots, places and factors on them.
const (
	mostSlots  = 1_000_000_000
	mostFactor = 1000.0
)

// validate passes every error of the capacity to report.
func (c *Capacity) validate(report func(what string, err error)) {
	report("full", c.Full.Validate())
	report("service", c.Service.Validate())
	switch {
	case c.Slots < 0 || c.Queue < 0:
		report("capacity", errors.New("slots and queue must not be negative"))
	case c.Slots > mostSlots || c.Queue > mostSlots:
		report("capacity", fmt.Errorf("slots and queue must be at most %d", mostSlots))
	case c.Slots == 0 && c.Queue > 0:
		report("capacity", errors.New("a queue needs a bounded number of slots"))
	case c.Slots == 0 && (c.Unit > 0 || c.Autoscale != nil || len(c.Day.Steps) > 0):
		report("capacity", errors.New("units, an autoscaler and the day's course need a bounded number of slots"))
	}
	report("queue", c.Discipline.validate(c.Queue))
	report("overload", c.Overload.validate(c.Slots))
	if c.Autoscale != nil && c.Slots > 0 {
		report("autoscale", c.Autoscale.validate(c.Slots))
	}
	report("day", c.Day.validate(0, mostFactor))
}
