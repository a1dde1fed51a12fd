package sim

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/des"
	"herdlab/sim/metrics"
	"herdlab/strategies"
)

// call is one row of the slab of calls, 40 bytes without pointers. A closed
// client keeps its row for all its calls, one after the other.
type call struct {
	born     time.Duration
	seq      uint32 // its number: of the client's calls if closed, else of the fleet's
	client   uint32
	attempts uint32 // sent so far
	phase    uint32
	flying   uint32 // its latest attempt in flight, as index+1; the others follow
	turn     uint16
	gen      uint16 // generation of its wake-up: others are stale
	inFlight uint16
	fleet    uint8
	active   bool
	target   wire.Target
}

// Draws of a call's own, besides those of its strategy: they have indices that
// no strategy's purpose reaches with turn and attempt 0.
const (
	drawStart = 1<<16 - 1 - iota
	drawThink
	drawUp
	drawDown
)

// callID names a call for its draws.
func callID(client, seq uint32) uint64 { return uint64(client)<<32 | uint64(seq) }

func (c *call) id(f *fleet) uint64 {
	if f.Traffic.Arrivals != nil {
		return uint64(c.seq)
	}
	return callID(c.client, c.seq)
}

func (r *run) demand(c *call, f *fleet) wire.Demand {
	if a := f.Traffic.Arrivals; a != nil {
		return a.Demand(f.rand, uint64(c.seq))
	}
	return f.Traffic.Size
}

// beginCall lets the caller of row i want something.
func (r *run) beginCall(i uint32) {
	c := &r.calls[i]
	f := &r.fleets[c.fleet]
	c.born, c.attempts, c.phase, c.turn, c.inFlight, c.flying = r.now, 0, 0, 0, 0, 0
	c.active, c.target = true, f.Target
	w := f.callWords(i)
	for k := range w {
		w[k] = 0
	}
	r.rec.CallBegan(r.now)
	if f.Patience > 0 {
		r.expireBy(i, r.now+f.Patience)
	}
	r.decide(i, strategies.Event{Kind: strategies.Begin})
}

// scheduleArrival schedules the next call of an open fleet.
func (r *run) scheduleArrival(f *fleet) {
	at, ok := f.Traffic.Arrivals.Next(f.rand, f.next, f.lastAt)
	if ok {
		f.lastAt = at
		r.queue.Push(des.Event{At: at, Ref: uint32(f.index), Kind: evArrival})
	}
}

// arrival begins a call of an open fleet in a free row.
func (r *run) arrival(index uint32) {
	f := &r.fleets[index]
	i := r.newCall(f)
	c := &r.calls[i]
	gen := c.gen
	*c = call{fleet: f.index, seq: uint32(f.next), client: uint32(f.next % uint64(f.Traffic.Clients)), gen: gen}
	f.next++
	r.scheduleArrival(f)
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
		if r.expireAt != nil {
			r.expireAt = append(r.expireAt, 0)
		}
	}
	if need := int(i+1) * int(f.cw); need > len(f.perCall) {
		f.perCall = append(f.perCall, make([]int64, need-len(f.perCall))...)
	}
	return i
}

// callWords are the words of row i, whose stack is f's.
func (f *fleet) callWords(i uint32) []int64 {
	at := (i - f.callBase) * f.cw
	return f.perCall[at : at+f.cw : at+f.cw]
}

// decide asks the strategy what row i does next, and does it.
func (r *run) decide(i uint32, e strategies.Event) {
	for {
		c := &r.calls[i]
		f := &r.fleets[c.fleet]
		r.progress(c, f)
		if r.err != nil {
			return
		}
		v := &r.view
		r.viewFleet = f
		v.ID, v.Client, v.Attempts, v.InFlight = c.id(f), c.client, c.attempts, uint32(c.inFlight)
		v.Born, v.Target, v.Phase, v.Turn, v.Rand = c.born, c.target, c.phase, uint32(c.turn), f.rand
		if f.Traffic.Arrivals != nil || f.Traffic.Size != (wire.Demand{}) {
			v.Demand = r.demand(c, f)
		}
		v.Memory[strategies.PerCall] = f.callWords(i)
		cl := c.client * f.clw
		v.Memory[strategies.PerClient] = f.perClient[cl : cl+f.clw]
		v.Memory[strategies.PerFleet] = f.perFleet
		v.Memory[strategies.PerEveryone] = r.everyone

		d := f.root.Next(r.now, v, e)

		c.phase, c.target = v.Phase, v.Target
		c.turn++
		if v.HasPuts() {
			v.TakePuts(func(p strategies.PoolID, n uint32) { r.put(f, c.client, p, n) })
		}
		if !c.active {
			return // the call is over, its strategy has only been told
		}
		switch d.Kind {
		case strategies.Send:
			c.turn = 0
			r.send(i, c, f, d)
			if !f.Program.WantsSent || !r.calls[i].active {
				return
			}
			e = strategies.Event{Kind: strategies.Sent, Attempt: r.calls[i].attempts}
			continue
		case strategies.Wait:
			c.gen++
			at := r.now + max(d.After, 0)
			if at < r.now {
				at = strategies.Never
			}
			r.queue.Push(des.Event{At: at, Ref: i, Gen: c.gen, Kind: evWake})
		case strategies.Acquire:
			if !r.acquire(i, f, c.client, d.Take) {
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
				Useful:    e.Terminal() && r.useful,
				Withdrawn: d.End.Reason == strategies.Withdrawn,
				Degraded:  d.End.Degraded,
			})
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
	c.active = false
	c.gen++ // a wake-up under way is stale
	r.leaveLine(i)
	r.withdrawAll(i)
	if f.Traffic.Arrivals != nil {
		r.freeCall = append(r.freeCall, i)
		return
	}
	c.seq++
	if f.Traffic.Calls > 0 && int(c.seq) >= f.Traffic.Calls {
		return
	}
	think := f.Traffic.Think.Draw(f.rand.For(callID(c.client, c.seq)), drawThink)
	r.queue.Push(des.Event{At: r.now + think, Ref: i, Kind: evCall})
}
