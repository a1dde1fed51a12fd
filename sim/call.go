package sim

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/des"
	"herdlab/sim/metrics"
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
	active   callState = 1 << iota // its call is not settled
	standing                       // it stands in a line
	answered                       // a useful answer has reached its client
	waking                         // a wake-up of its is pending
)

// Draws of a call's own, besides those of its strategy: they have indices that
// no strategy's purpose reaches with turn and attempt 0.
const (
	drawStart = 1<<16 - 1 - iota
	drawThink
	drawUp
	drawDown
	drawSkew
)

// callID names a call for its draws.
func callID(client, seq uint32) uint64 { return uint64(client)<<32 | uint64(seq) }

// beginCall lets the caller of row i want something.
func (r *run) beginCall(i uint32) {
	c := &r.calls[i]
	f := &r.fleets[c.fleet]
	c.born, c.attempts, c.phase, c.turn, c.inFlight, c.flying = r.now, 0, 0, 0, 0, 0
	c.state, c.target = active, f.Target
	w := f.callWords(i)
	for k := range w {
		w[k] = 0
	}
	r.rec.CallBegan(r.now)
	if f.Patience > 0 {
		r.expireBy(i, later(r.now, f.Patience), ofCaller)
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
		if r.lookAt != nil {
			r.lookAt = append(r.lookAt, looks{})
		}
	}
	if need := int(i+1) * int(f.cw); need > len(f.callSlab) {
		f.callSlab = append(f.callSlab, make([]int64, need-len(f.callSlab))...)
	}
	return i
}

// staleWake reports whether a wake-up is of a wait that is over. Its generation
// tells, but has 16 bits; where waits can be cut short, as by a caller's
// patience, one may outlive 65,536 others, so the time when the row is due has
// to agree.
func (r *run) staleWake(e des.Event) bool {
	return r.calls[e.Ref].gen != e.Gen || r.dueAt != nil && r.dueAt[e.Ref] != r.now
}

// decide asks the strategy what row i does next, and does it.
func (r *run) decide(i uint32, e strategies.Event) {
	for {
		c := &r.calls[i]
		f := &r.fleets[c.fleet]
		if r.now != r.stepAt {
			r.stepAt, r.steps, r.idled = r.now, 0, 0
		}
		if r.steps++; r.steps > r.patience {
			r.stuck(i, c, f)
			return
		}
		v := &r.view
		if r.viewFleet != f {
			r.viewFleet = f
			v.Rand = f.rand
			v.Memory[strategies.PerFleet] = f.perFleet
			v.Memory[strategies.PerEveryone] = r.everyone
		}
		client, id := f.identify(i, c.seq)
		v.ID, v.Client, v.Attempts, v.InFlight = id, client, c.attempts, uint32(c.inFlight)
		v.Born, v.Target, v.Phase, v.Turn = c.born, c.target, uint32(c.phase), uint32(c.turn)
		v.Demand = f.demand(c.seq)
		v.Memory[strategies.PerCall] = f.callWords(i)
		v.Memory[strategies.PerClient] = f.clientWords(client)

		d := f.root.Next(r.now, v, e)

		c.phase, c.target = uint16(v.Phase), v.Target
		c.turn++
		if v.HasPuts() {
			v.TakePuts(func(p strategies.PoolID, n uint32) { r.put(f, client, p, n) })
		}
		if c.state&active == 0 {
			return // the call is over, its strategy has only been told
		}
		switch d.Kind {
		case strategies.Send:
			c.turn = 0
			r.send(i, c, f, d)
			if !f.Program.WantsSent || r.err != nil {
				return
			}
			e = strategies.Event{Kind: strategies.Sent, Attempt: r.calls[i].attempts}
			continue
		case strategies.Wait:
			c.gen++
			c.state |= waking
			at := later(r.now, max(d.After, 0))
			if at == r.now {
				r.idled = c.phase
			}
			if r.dueAt != nil {
				r.dueAt[i] = at
			}
			r.queue.Push(des.Event{At: at, Ref: i, Gen: c.gen, Kind: evWake})
		case strategies.Acquire:
			if !r.acquire(i, f, client, d.Take) {
				return
			}
			e = strategies.Event{Kind: strategies.Admitted}
			continue
		case strategies.Abandon:
			if !r.abandon(i, d.Take.N) {
				return
			}
			e = strategies.Event{Kind: strategies.Settled, Attempt: d.Take.N, Outcome: &cancelled}
			continue
		case strategies.Answer:
			r.settle(i, metrics.Settlement{Succeeded: true, Useful: true, Degraded: true})
		case strategies.Stop:
			r.settle(i, metrics.Settlement{
				Succeeded: d.End.Reason == strategies.Succeeded,
				Useful:    c.state&answered != 0,
				Withdrawn: d.End.Reason == strategies.Withdrawn,
				Degraded:  d.End.Degraded,
			})
		case strategies.Idle:
			if c.inFlight == 0 && c.state&(waking|standing) == 0 {
				r.err = fmt.Errorf("sim: strategy %q has nothing to do for a call of which nothing is under way, so it would hang for ever; it must send, wait, acquire, answer or stop", f.Program.Name)
			}
		default:
			r.err = fmt.Errorf("sim: strategy %q decides %d, which is no decision", f.Program.Name, d.Kind)
		}
		return
	}
}

// settle ends the call of row i, and lets its client think of the next.
func (r *run) settle(i uint32, s metrics.Settlement) {
	c := &r.calls[i]
	f := &r.fleets[c.fleet]
	s.Born = c.born
	r.rec.CallSettled(r.now, s)
	if c.state&standing != 0 {
		r.leaveLine(i)
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
	r.queue.Push(des.Event{At: later(r.now, think), Ref: i, Kind: evCall})
}
