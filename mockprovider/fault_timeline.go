package mockprovider

import (
	"cmp"
	"slices"
	"time"

	"herdlab/mockprovider/wire"
)

// faults are the faults of a provider, and what they amount to at the moment.
type faults struct {
	// slots hold them; a slot serves another fault once its own is gone and no
	// job is marked with it.
	slots []fault
	// ahead are the slots of those that are in force or will be, in the order
	// of their numbers; arrivals and works of those in force that act there;
	// refusers of those that refuse every request that they are for, by their
	// beginning.
	ahead, arrivals, works, refusers []uint16
	strain                           Strain
	numbers                          int  // of those that ever were
	scripted                         mark // the answer that a fault has picked for the work of the request that arrives
	// arrival and end are reused, so that hooks cost no allocation.
	arrival Arrival
	end     End
}

// fault is one of them.
type fault struct {
	Fault
	Hooks
	number int // in the order in which they were declared and injected
	slot   uint16
	gone   bool
	all    bool // it is for all requests
	sure   bool // it strikes every request that it is for
}

// mark names the fault that has struck a job: its slot + 1,
// and the number of the answer if it picks answers; 0 is no mark.
type mark struct {
	slot, answer uint16
}

// The purposes of the draws of a call. Draw 0 is what its work takes, whatever
// the attempt; the others belong to an attempt, which counts from 1.
const (
	forHint     uint32 = 1
	forOverload uint32 = 2
	forFault    uint32 = 1 << 16 // + its number
)

// lot is the number of a draw of a call.
func lot(attempt, purpose uint32) uint64 { return uint64(attempt)<<32 | uint64(purpose) }

// look finds out which faults are in force at now, and when that changes.
func (p *Provider) look(now time.Duration) {
	t := &p.faults
	p.changes, t.scripted = never, mark{}
	t.arrivals, t.works, t.refusers = t.arrivals[:0], t.works[:0], t.refusers[:0]
	t.ahead = slices.DeleteFunc(t.ahead, func(slot uint16) bool {
		f := &t.slots[slot]
		f.gone = f.gone || now >= f.To
		return f.gone
	})
	for _, slot := range t.ahead {
		f := &t.slots[slot]
		if f.Refuses && f.sure {
			t.refusers = append(t.refusers, slot)
		}
		if now < f.From {
			p.changes = min(p.changes, f.From)
			continue
		}
		p.changes = min(p.changes, f.To)
		if f.Arrive != nil || f.Pick != nil {
			t.arrivals = append(t.arrivals, slot)
		}
		if f.Work != nil || f.End != nil {
			t.works = append(t.works, slot)
		}
	}
	slices.SortStableFunc(t.refusers, func(a, b uint16) int { return cmp.Compare(t.slots[a].From, t.slots[b].From) })
}

// strikes reports whether f strikes r.
func (p *Provider) strikes(f *fault, r *wire.Request) bool {
	return (f.all || f.Where.Of(r)) &&
		(f.sure || p.rnd.For(r.Call).Float(lot(r.Attempt, forFault+uint32(f.number))) < f.Probability)
}

// until returns the time until neither f nor the faults that follow on it refuse
// r any more; it is unknown if f has a probability or never ends.
func (t *faults) until(now time.Duration, f *fault, r *wire.Request) Admission {
	if !f.Refuses || !f.sure {
		return Admission{}
	}
	over := f.To
	for _, slot := range t.refusers {
		g := &t.slots[slot]
		if g.From > over {
			break
		}
		if g.To > over && g.Where.Of(r) {
			over = g.To
		}
	}
	if over == Forever {
		return Admission{}
	}
	return AdmittedAfter(over - now)
}

// trouble lets the faults in force act on an arrival. It reports whether one
// has dealt with it.
func (p *Provider) trouble(now time.Duration, in *wire.Input, out []wire.Effect) ([]wire.Effect, bool) {
	t := &p.faults
	t.scripted = mark{}
	for i := len(t.arrivals) - 1; i >= 0; i-- {
		f := &t.slots[t.arrivals[i]]
		if !p.strikes(f, &in.Request) {
			continue
		}
		h := &f.Hooks
		if f.Pick != nil {
			if h = t.pick(f, &in.Request); h == nil {
				continue
			}
		}
		if h.Arrive == nil {
			continue
		}
		t.arrival = Arrival{Now: now, Request: &in.Request, provider: p, fault: f, in: in, out: out}
		h.Arrive(&t.arrival)
		if out = t.arrival.out; t.arrival.ended {
			return out, true
		}
	}
	return out, false
}

// pick returns the hooks that f chooses for r from its answers; nil if there are
// none. Those that act on work are kept for when it starts: the first fault that
// has such wins.
func (t *faults) pick(f *fault, r *wire.Request) *Hooks {
	n := f.Pick(r)
	if n < 0 || n >= len(f.Answers) {
		return nil
	}
	h := &f.Answers[n]
	if h.Arrive == nil && (h.Work != nil || h.End != nil) && t.scripted.slot == 0 {
		t.scripted = mark{slot: f.slot + 1, answer: uint16(n) + 1}
	}
	return h
}

// disturb lets the faults in force act on work that starts. All of them may
// change how long it takes; the last that decides on its end marks it.
func (p *Provider) disturb(j *job) {
	t := &p.faults
	if j.mark.slot != 0 {
		if h := t.hooksOf(j.mark); h.End == nil {
			h.Work(&j.work, &j.req, p.rnd)
			j.mark = mark{}
		}
	}
	for _, slot := range t.works {
		f := &t.slots[slot]
		switch {
		case !p.strikes(f, &j.req):
		case f.End == nil:
			f.Work(&j.work, &j.req, p.rnd)
		case j.mark.answer == 0: // a script has the last word
			j.mark = mark{slot: slot + 1}
		}
	}
	if j.mark.slot != 0 {
		if h := t.hooksOf(j.mark); h.Work != nil {
			h.Work(&j.work, &j.req, p.rnd)
		}
	}
}

// spoil does to the end of a marked job what its fault has in store for it. The
// gates will hear of the class of the reply.
func (p *Provider) spoil(now time.Duration, j *job, e *wire.Effect) {
	t := &p.faults
	t.end = End{Now: now, Request: &j.req, Work: &j.work, Reply: &e.Reply, provider: p, kind: e.Kind}
	t.hooksOf(j.mark).End(&t.end)
	e.Kind = t.end.kind
}

// hooksOf returns what has marked a job.
func (t *faults) hooksOf(m mark) *Hooks {
	h := &t.slots[m.slot-1].Hooks
	if m.answer > 0 {
		return &h.Answers[m.answer-1]
	}
	return h
}
