package sim

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/des"
	"herdlab/sim/metrics"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// call is one row of the slab of calls: 32 bytes, half a cache line, without
// pointers. A closed client keeps its row for all its calls, one after the
// other, so the row also says which client it is.
type call struct {
	born     time.Duration
	seq      uint32 // its number: of the client's calls if closed, else of the fleet's
	attempts uint32 // sent so far
	flying   uint32 // its latest attempt in flight, as index+1; the others follow
	phase    uint16
	turn     uint16
	gen      uint16 // generation of its wake-up: others are stale
	inFlight uint8
	fleet    uint8
	state    callState
	target   wire.Target
}

// callState is what a row is good for.
type callState uint8

const (
	active    callState = 1 << iota // its call is not settled
	standing                        // it stands in a line
	answered                        // a useful answer has reached its client
	waking                          // a wake-up of its is pending
	following                       // it follows another call's flight
	lesser                          // the answer is the provider's from a lesser model
	shared                          // the answer is another call's
)

// Draws of a call's own, besides those of its strategy: they have indices that
// no strategy's purpose reaches with turn and attempt 0.
const (
	drawStart = 1<<16 - 1 - iota
	drawThink
	drawUp
	drawDown
	drawSkew
	drawDemand
)

// callID names a call for its draws.
func callID(client, seq uint32) uint64 { return uint64(client)<<32 | uint64(seq) }

// beginCall lets the caller of row i want something.
func (r *run) beginCall(i uint32) {
	c := &r.calls[i]
	f := r.fleetAt[c.fleet]
	c.born, c.attempts, c.phase, c.turn, c.inFlight, c.flying = r.now, 0, 0, 0, 0, 0
	c.state, c.target = active, f.Target
	w := f.callWords(i)
	for k := range w {
		w[k] = 0
	}
	r.rec.CallBegan(r.now)
	if r.counts != nil {
		r.counts[c.fleet].Calls++
	}
	if !f.uniform {
		r.demands[i] = f.demand(i, c.seq)
	}
	if r.had != nil {
		r.had[i] = 0
	}
	if f.Patience > 0 {
		r.expireBy(i, saturating.Add(r.now, f.Patience), ofCaller)
	}
	r.decide(i, strategies.Event{Kind: strategies.Begin})
}

// scheduleArrival schedules the next call of an open fleet.
func (r *run) scheduleArrival(f *fleet) {
	at, ok := f.Traffic.Arrivals.Next(f.rand, f.next, f.lastAt)
	if !ok {
		return
	}
	switch {
	case at < f.lastAt:
		r.err = fmt.Errorf("sim: call %d of fleet %q arrives at %v, the one before it at %v; arrivals must be in order of time", f.next, f.Name, at, f.lastAt)
		return
	case at > f.lastAt:
		f.crowd = 0
	default:
		if f.crowd++; f.crowd > MaxClients {
			r.err = fmt.Errorf("sim: %w: more than %d calls of fleet %q arrive at %v; give arrivals a positive gap", ErrNoProgress, MaxClients, f.Name, at)
			return
		}
	}
	f.lastAt = at
	r.queue.Push(des.Event{At: at, Ref: uint32(f.index), Kind: evArrival})
}

// arrival begins a call of an open fleet in a free row.
func (r *run) arrival(index uint32) {
	f := &r.fleets[index]
	i := r.newCall(f)
	c := &r.calls[i]
	gen := c.gen
	*c = call{fleet: f.index, seq: uint32(f.next), gen: gen}
	f.next++
	r.scheduleArrival(f)
	r.steps -= min(r.steps, perCaller) // one caller more may explain what goes on
	r.beginCall(i)
}

func (r *run) newCall(f *fleet) uint32 {
	var i uint32
	if n := len(r.freeCall); n > 0 {
		i = r.freeCall[n-1]
		r.freeCall = r.freeCall[:n-1]
	} else {
		i = uint32(len(r.calls))
		r.calls = append(r.calls, call{})
		if r.waiting != nil {
			r.waiting = append(r.waiting, waiter{})
		}
		if r.dueAt != nil {
			r.dueAt = append(r.dueAt, -1)
		}
		if r.firesAt != nil {
			r.firesAt = append(r.firesAt, -1)
		}
		if r.lookAt != nil {
			r.lookAt = append(r.lookAt, looks{})
		}
		if r.demands != nil {
			r.demands = append(r.demands, wire.Demand{})
		}
		if r.had != nil {
			r.had = append(r.had, 0)
		}
		if r.seats != nil {
			r.seats = append(r.seats, seat{})
		}
	}
	if need := int(i+1) * int(f.cw); need > len(f.callSlab) {
		f.callSlab = append(f.callSlab, make([]int64, need-len(f.callSlab))...)
		r.viewFleet = nil // what is in view may have moved
	}
	return i
}

// settle ends the call of row i, and lets its client think of the next.
func (r *run) settle(i uint32, s metrics.Settlement) {
	c := &r.calls[i]
	f := r.fleetAt[c.fleet]
	if f.uniform && r.viewFleet == f && r.view.Demand != f.size {
		r.err = fmt.Errorf("sim: a layer of strategy %q changes what its call asks for and has not said so, so nothing would come of it; call Build.ChangesDemand where the layer is built", f.Program.Name)
	}
	s.Born = c.born
	r.rec.CallSettled(r.now, s)
	if r.counts != nil {
		r.counts[c.fleet].Settled(&s)
	}
	if c.state&standing != 0 {
		r.leaveLine(i)
	}
	if r.seats != nil {
		r.leaveFlight(i)
	}
	c.state = 0
	c.gen++ // a wake-up under way is stale
	if r.dueAt != nil {
		r.dueAt[i] = -1
	}
	r.withdrawAll(i)
	if f.open {
		r.freeCall = append(r.freeCall, i)
		return
	}
	c.seq++
	if f.Traffic.Calls > 0 && int(c.seq) >= f.Traffic.Calls {
		return
	}
	_, id := f.identify(i, c.seq)
	think := f.Traffic.Think.Draw(f.rand.For(id), drawThink)
	r.queue.Push(des.Event{At: saturating.Add(r.now, think), Ref: i, Kind: evCall})
}
