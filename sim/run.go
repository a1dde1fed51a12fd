package sim

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/des"
	"herdlab/sim/metrics"
	"herdlab/strategies"
)

// The kinds of events. Their order is the order at one instant:
const (
	evProvider = iota // the provider changes by itself before it has other inputs
	evDone            // slots become free before the next arrival
	evArrive          // attempts on the wire precede what clients do next
	evReply           // a reply at the time of the timeout is in time
	evExpire          // a timeout precedes further decisions
	evWake            // the end of a Wait
	evPool            // calls that wait for a pool precede new calls
	evCall            // a client's next call
	evArrival         // an open fleet's next call
)

// run is the state of one experiment under way.
type run struct {
	queue    des.Queue
	now      time.Duration
	provider Provider
	input    wire.Input
	asking   *fleet // the fleet of the request in input
	effects  []wire.Effect
	tickAt   time.Duration
	rec      *metrics.Recorder

	fleets   []fleet
	fleetAt  [256]*fleet // the same, by a number that needs no bounds
	calls    []call
	freeCall []uint32
	attempts []attempt
	ticketOf []uint32 // the attempt that each job in service works on
	freeAtt  []uint32
	transit  []wire.Effect // replies, heads and broken connections on their way to clients
	freeRep  []uint32
	dueAt    []time.Duration // per call: when its wake-up is due; nil if every wait ends at its time
	firesAt  []time.Duration // per call: when its timer fires, −1 for never; nil if no strategy races
	checkAt  []checks        // per call; nil until a call or an attempt has a deadline

	pools    []poolOf
	places   []place // per row of a closed fleet; nil until a call waits
	numLines uint32
	lines    []line
	waiting  []waiter // per call; nil, as lines, until a call waits
	revisit  []uint32 // lines whose pool has units again, and flights that have changed
	everyone []int64

	demands   []wire.Demand   // per call; nil if all calls of each fleet have one demand
	asked     []wire.Demand   // per attempt; likewise
	deadlines []time.Duration // per attempt, 0 for none; nil until one has a timeout
	members   []membership    // per call; nil until a call joins a flight
	flights   []flight
	freeFlt   []uint32
	flightOf  map[flightKey]uint32
	had       []uint32 // per call: the tokens received by failed attempts; nil until there are some

	counts []metrics.FleetCount // nil if there is one fleet

	view      strategies.Call
	viewFleet *fleet               // the fleet of the call in view
	viewRow   uint32               // its row, while commands are taken
	viewKind  strategies.EventKind // the kind of the event that it decides on
	outcome   wire.Outcome         // of the event being decided
	flight    uint64               // attempts that have not ended for their client

	fired      uint64 // events
	maxSteps   uint64 // more decisions at one time mean that there is no progress
	steps      uint64 // decisions since time last advanced
	stepAt     time.Duration
	idled      uint16 // the phase of the last call that waited no time at stepAt
	err        error
	prefetched uint32
}

// Run runs the experiment and returns its report, checked against the
// conservation laws. It stops early with ctx's error. It reports a bad
// configuration before it starts, and a strategy that makes no progress in time as
// ErrNoProgress, with the client and the layer.
func (x *Experiment) Run(ctx context.Context) (*metrics.Report, error) {
	if err := x.validate(); err != nil {
		return nil, err
	}
	r := newRun(x)
	if r.view.Driver().Scripts != nil {
		defer r.view.Driver().Scripts.Close()
	}
	if err := r.loop(ctx, x.Plan.Horizon); err != nil {
		return nil, err
	}
	rep := r.rec.Finish(r.now, r.flight, r.eachWaiting)
	rep.Events, rep.Fleets = r.fired, r.counts
	if err := rep.Check(); err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	return rep, nil
}

// eachWaiting yields the time of arrival of each call that is not settled.
func (r *run) eachWaiting(yield func(born time.Duration)) {
	for i := range r.calls {
		if c := &r.calls[i]; c.state&active != 0 {
			yield(c.born)
		}
	}
}

func newRun(x *Experiment) *run {
	r := &run{provider: x.Provider, rec: metrics.NewRecorder(x.Plan), tickAt: math.MaxInt64}
	if x.Commons != nil {
		r.everyone = make([]int64, x.Commons.Words())
	}
	closed := 0
	for i := range x.Fleets {
		if x.Fleets[i].Traffic.Arrivals == nil {
			closed += x.Fleets[i].Traffic.Clients
		}
	}
	r.calls = make([]call, closed)
	r.queue.Grow(closed + 1024)
	r.fleets = make([]fleet, len(x.Fleets))
	base := 0
	for i := range x.Fleets {
		spec := &x.Fleets[i]
		f := &r.fleets[i]
		r.fleetAt[i] = f
		f.init(spec, uint8(i), uint32(base), x.Rand.For(uint64(i)))
		if !f.open {
			base += spec.Traffic.Clients
		}
		r.addLines(f)
		r.addTables(f)
		for _, s := range f.Program.Signals {
			f.signal = append(f.signal, r.rec.Signal(s.Reason, s.Alarm))
		}
		if !f.uniform && r.demands == nil {
			r.demands = make([]wire.Demand, len(r.calls))
		}
		if spec.Program.Scripted && r.view.Driver().Scripts == nil {
			r.view.Driver().Scripts = new(strategies.Scripts)
		}
	}
	if len(r.fleets) > 1 {
		for i := range x.Fleets {
			r.counts = append(r.counts, metrics.FleetCount{Name: x.Fleets[i].Name})
		}
	}
	if len(r.pools) > 0 {
		r.view.Driver().Pools = r
	}
	r.maxSteps = 100_000 + perCaller*uint64(closed)
	if closed > prefetchFrom {
		r.queue.Opened = r.prefetch
	}
	if x.waitsEndEarly() {
		r.dueAt = make([]time.Duration, len(r.calls))
	}
	if x.races() {
		r.firesAt = slices.Repeat([]time.Duration{-1}, len(r.calls))
	}
	r.scheduleTick()
	for i := range r.fleets {
		r.openFleet(&r.fleets[i])
	}
	return r
}

// checkEvery is the number of events between two checks of the context.
const checkEvery = 1 << 16

func (r *run) loop(ctx context.Context, horizon time.Duration) error {
	for ; ; r.fired++ {
		if r.fired%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e, ok := r.queue.Pop()
		if !ok {
			return r.err
		}
		if e.At >= horizon {
			r.now = horizon
			return r.err
		}
		was, stale := r.now, false
		r.now = e.At
		// The frequent kinds first, as branches: a jump table of nine targets is
		// mispredicted more often.
		if e.Kind == evArrive {
			r.arrive(e.Ref)
		} else if e.Kind == evWake {
			if r.dueAt == nil && r.calls[e.Ref].gen == e.Gen {
				r.wake(e.Ref)
			} else {
				stale = !r.wakeIfDue(e)
			}
		} else if e.Kind == evDone {
			r.step(wire.Done, 0, e.Ref)
		} else if e.Kind == evCall {
			r.beginCall(e.Ref)
		} else {
			stale = r.rare(e)
		}
		if len(r.effects) > 0 || len(r.revisit) > 0 {
			r.settleEffects()
		}
		if stale {
			r.now = was // a stale event must not change the end of the run
		}
		if r.err != nil {
			return r.err
		}
	}
}

// rare handles the infrequent kinds of events. It reports whether the event was
// stale.
func (r *run) rare(e des.Event) (stale bool) {
	switch e.Kind {
	case evProvider:
		return !r.tick(e)
	case evReply:
		r.deliverTransit(e.Ref)
	case evExpire:
		return !r.expire(e)
	case evPool:
		return !r.poolReady(e)
	case evArrival:
		r.arrival(e.Ref)
	}
	return false
}
