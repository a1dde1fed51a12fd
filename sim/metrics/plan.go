package metrics

import (
	"math"
	"slices"
	"time"
)

// Plan is what a recorder needs in advance.
type Plan struct {
	// Bin is the width of the bins of all series; 0 means one second.
	Bin time.Duration
	// FaultEnd is when the last fault ends; 0 if there is none. "After" in a
	// metric's name means from then on, and bins are aligned to it.
	FaultEnd time.Duration
	// FaultBegin is the time when the first fault begins.
	FaultBegin time.Duration
	// Faults are the disturbances of the run, in any order. Without them FaultBegin
	// and FaultEnd describe one that refuses.
	Faults []FaultSpan
	// Horizon is when the run is cut off.
	Horizon time.Duration
	// Capacity is what the provider can serve, in requests per second; 0 means
	// unlimited.
	Capacity float64
	// Service is the mean time from the sending of an attempt to its answer without
	// queueing, the network included; 0 if it is not known.
	Service time.Duration
	// OneShot reports that each client calls once, so that recovery is undefined
	// and drain is judged.
	OneShot bool
	// Clients is the number of clients of closed fleets; 0 where calls do not depend
	// on clients.
	Clients int
	// MinSuccess is the share of calls that must be answered usefully for a drain to
	// count; 0 means 99.9 %.
	MinSuccess float64
	// Supply is the source of calls, if it is the same for all fleets.
	Supply Supply
}

// FaultSpan is the time of one fault.
type FaultSpan struct {
	From, To time.Duration // To is math.MaxInt64 for a fault without an end
	// Refuses says that it refuses requests, stops work on them or leaves them
	// unanswered, or cuts what the provider can serve.
	Refuses bool
}

// faults returns the faults, or the one that FaultBegin and FaultEnd describe.
func (p *Plan) faults() []FaultSpan {
	if len(p.Faults) == 0 && p.FaultEnd > 0 {
		return []FaultSpan{{From: p.FaultBegin, To: p.FaultEnd, Refuses: true}}
	}
	return p.Faults
}

// lastRefusal returns the end of the last fault that refuses and has an end; 0 if
// there is none.
func (p *Plan) lastRefusal() (end time.Duration) {
	for _, f := range p.faults() {
		if f.Refuses && f.To != math.MaxInt64 {
			end = max(end, f.To)
		}
	}
	return end
}

// ends returns the times at which faults end, in order, without duplicates. A fault
// that ends while another one still refuses does not let anything recover, so its
// end does not count.
func (p *Plan) ends() (ends []time.Duration) {
	for _, f := range p.faults() {
		within := func(g FaultSpan) bool { return g.Refuses && g.From <= f.To && f.To < g.To }
		if f.To != math.MaxInt64 && !slices.ContainsFunc(p.Faults, within) {
			ends = append(ends, f.To)
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// Supply is the source of calls, which determines for how long they arrive.
type Supply uint8

// The supplies of calls.
const (
	// Counted is a number of calls for each client: the strategy determines for how
	// long they arrive. It is also used for fleets with different supplies.
	Counted Supply = iota
	// Open means that calls arrive independently of earlier ones.
	Open
	// Endless means that clients call until the horizon.
	Endless
)
