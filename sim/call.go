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
// other, so the row identifies the client.
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

// callState is a set of flags of a call.
type callState uint8

const (
	active    callState = 1 << iota // its call is not settled
	standing                        // it waits in the line of a pool
	answered                        // a useful answer has reached its client
	waking                          // its wake-up is pending
	following                       // it follows another call's flight
	lesser                          // its answer comes from a lesser model
	shared                          // its answer comes from another call's attempt
)

// Draws of a call besides those of its strategy. Their indices are those of no
// purpose of a strategy with turn and attempt 0.
const (
	drawStart = 1<<16 - 1 - iota
	drawThink
	drawUp
	drawDown
	drawSkew
	drawDemand
)

// callID returns the ID of a call for its draws.
func callID(client, seq uint32) uint64 { return uint64(client)<<32 | uint64(seq) }

// beginCall begins a call in row i.
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
	r.steps -= min(r.steps, perCaller) // one more caller may decide at this time
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
		if r.checkAt != nil {
			r.checkAt = append(r.checkAt, checks{})
		}
		if r.demands != nil {
			r.demands = append(r.demands, wire.Demand{})
		}
		if r.had != nil {
			r.had = append(r.had, 0)
		}
		if r.members != nil {
			r.members = append(r.members, membership{})
		}
	}
	if need := int(i+1) * int(f.cw); need > len(f.callSlab) {
		f.callSlab = append(f.callSlab, make([]int64, need-len(f.callSlab))...)
		r.viewFleet = nil // the memory in view may have moved
	}
	return i
}

// settle ends the call of row i and schedules the next one of its client.
func (r *run) settle(i uint32, s metrics.Settlement) {
	c := &r.calls[i]
	f := r.fleetAt[c.fleet]
	if f.uniform && r.viewFleet == f && r.view.Demand != f.size {
		r.err = fmt.Errorf("sim: a layer of strategy %q changes the demand of its call without Build.ChangesDemand, so the change would have no effect; call Build.ChangesDemand where the layer is built", f.Program.Name)
	}
	s.Born = c.born
	r.rec.CallSettled(r.now, s)
	if r.counts != nil {
		r.counts[c.fleet].Settled(&s)
	}
	if c.state&standing != 0 {
		r.leaveLine(i)
	}
	if r.members != nil {
		r.leaveFlight(i)
	}
	c.state = 0
	c.gen++ // a pending wake-up is stale
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
