package sim

import (
	"fmt"
	"math"

	"herdlab/mockprovider/wire"
	"herdlab/sim/des"
	"herdlab/sim/saturating"
)

// settleEffects handles the provider's effects, and the lines and flights to
// revisit, until both lists are empty. Handlers only append to the lists, so a
// chain of any length needs no recursion. The lists may be reallocated meanwhile:
// no handler may keep a pointer to an effect.
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
			case e.Kind == wire.LostConnection:
				r.broke(e)
			}
		}
		if k == len(r.revisit) {
			break
		}
		if at := r.revisit[k]; at&flightMark == 0 {
			r.admit(at)
		} else {
			r.landed(at &^ flightMark)
		}
	}
	r.effects, r.revisit = r.effects[:0], r.revisit[:0]
}

// started schedules the end of a job and records its attempt.
func (r *run) started(e *wire.Effect) {
	for int(e.Job) >= len(r.ticketOf) {
		r.ticketOf = append(r.ticketOf, 0)
	}
	r.ticketOf[e.Job] = e.Ticket
	r.queue.Push(des.Event{At: saturating.Add(r.now, e.After), Ref: e.Job, Kind: evDone})
}

// step passes an input to the provider; its effects are appended to r.effects.
func (r *run) step(kind wire.InputKind, ticket, job uint32) {
	r.input.Kind, r.input.Ticket, r.input.Job = kind, ticket, job
	r.effects = r.provider.Step(r.now, &r.input, r.effects)
	if t := r.provider.NextTick(); t < r.tickAt {
		r.scheduleTick()
	}
}

// tick passes the scheduled tick to the provider. It reports whether this had
// effects; a tick that was replaced by an earlier one has none.
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
