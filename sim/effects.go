package sim

import (
	"fmt"
	"math"

	"herdlab/mockprovider/wire"
	"herdlab/sim/des"
	"herdlab/sim/saturating"
)

// settleEffects carries out what the provider did and what followed from it,
// until nothing is left to do at this instant without an event. Handlers only
// append to the two lists, so a chain of any length needs no recursion; and
// the lists may grow and move meanwhile, so nobody keeps an effect.
func (r *run) settleEffects() {
	for i, k := 0, 0; ; k++ {
		for ; i < len(r.effects); i++ {
			e := &r.effects[i]
			switch {
			case e.After < 0:
				r.err = fmt.Errorf("sim: at %v the provider does something %v before it is asked; effects must not lie in the past", r.now, -e.After)
			case e.Kind == wire.Replied:
				r.replied(e)
			case e.Kind == wire.Started:
				r.started(e)
			case e.Kind == wire.Head:
				r.head(e)
			case e.Kind == wire.Dropped:
				r.dropped(e)
			case e.Kind == wire.Broke:
				r.broke(e)
			}
		}
		if k == len(r.kicked) {
			break
		}
		if at := r.kicked[k]; at&flightMark == 0 {
			r.admit(at)
		} else {
			r.landed(at &^ flightMark)
		}
	}
	r.effects, r.kicked = r.effects[:0], r.kicked[:0]
}

// started schedules the end of a job, and remembers whose it is.
func (r *run) started(e *wire.Effect) {
	for int(e.Job) >= len(r.ticketOf) {
		r.ticketOf = append(r.ticketOf, 0)
	}
	r.ticketOf[e.Job] = e.Ticket
	r.queue.Push(des.Event{At: saturating.Add(r.now, e.After), Ref: e.Job, Kind: evDone})
}

// step tells the provider what happened; its effects wait in r.effects.
func (r *run) step(kind wire.InputKind, ticket, job uint32) {
	r.input.Kind, r.input.Ticket, r.input.Job = kind, ticket, job
	r.effects = r.provider.Step(r.now, &r.input, r.effects)
	if t := r.provider.NextTick(); t < r.tickAt {
		r.scheduleTick()
	}
}

// tick gives the provider the tick it asked for. It reports whether anything
// came of it: not if the provider has asked for an earlier one since, or only
// looked at its clock.
func (r *run) tick(e des.Event) bool {
	if e.At != r.tickAt {
		return false
	}
	r.tickAt = math.MaxInt64
	r.input.Kind = wire.Tick
	r.effects = r.provider.Step(r.now, &r.input, r.effects)
	r.scheduleTick()
	return len(r.effects) > 0
}

func (r *run) scheduleTick() {
	t := r.provider.NextTick()
	if t >= r.tickAt {
		return
	}
	if t <= r.now {
		r.err = fmt.Errorf("sim: %w: at %v the provider asks for a tick at %v; NextTick must return a later time, or the largest Duration for never",
			ErrNoProgress, r.now, t)
		return
	}
	r.tickAt = t
	r.queue.Push(des.Event{At: t, Kind: evProvider})
}
