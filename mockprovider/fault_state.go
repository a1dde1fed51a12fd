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
	// refusers of those that refuse whoever they are for, by their beginning.
	ahead, arrivals, works, refusers []uint16
	strain                           strain
	numbers                          int  // of those that ever were
	scripted                         mark // what a script has in store for the request that arrives
}

// fault is one of them.
type fault struct {
	Fault
	hooks
	number int // in the order in which they were declared and injected
	slot   uint16
	gone   bool
	all    bool // it is for everybody
	sure   bool // whoever it is for, it strikes
}

// mark is what a job remembers of the fault that has struck it: its slot + 1,
// and where it follows a script the number of the answer; the zero mark is none.
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
		if f.refuses && f.sure {
			t.refusers = append(t.refusers, slot)
		}
		if now < f.From {
			p.changes = min(p.changes, f.From)
			continue
		}
		p.changes = min(p.changes, f.To)
		if f.arrive != nil {
			t.arrivals = append(t.arrivals, slot)
		}
		if f.work != nil || f.end != nil {
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

// until returns how long f and the faults that follow on it refuse r;
// wire.NoHint if f strikes by chance or forever, so that nobody knows.
func (t *faults) until(now time.Duration, f *fault, r *wire.Request) time.Duration {
	if !f.refuses || !f.sure {
		return wire.NoHint
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
		return wire.NoHint
	}
	return over - now
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
		if out, dealt := f.arrive(p, now, f, in, out); dealt {
			return out, true
		}
	}
	return out, false
}

// disturb lets the faults in force act on work that starts. All of them may
// change how long it takes; the last that decides on its end marks it.
func (p *Provider) disturb(j *job) {
	t := &p.faults
	if j.mark.slot != 0 {
		if h := t.hooksOf(j.mark); h.end == nil {
			h.work(&j.work, j.req.Stream, p.rnd)
			j.mark = mark{}
		}
	}
	for _, slot := range t.works {
		f := &t.slots[slot]
		switch {
		case !p.strikes(f, &j.req):
		case f.end == nil:
			f.work(&j.work, j.req.Stream, p.rnd)
		case j.mark.answer == 0: // a script has the last word
			j.mark = mark{slot: slot + 1}
		}
	}
	if j.mark.slot != 0 {
		if h := t.hooksOf(j.mark); h.work != nil {
			h.work(&j.work, j.req.Stream, p.rnd)
		}
	}
}

// spoil does to the end of a marked job what its fault has in store for it. The
// gates will hear of the class of the reply.
func (p *Provider) spoil(now time.Duration, j *job, e *wire.Effect) {
	p.faults.hooksOf(j.mark).end(p, now, j, e)
}

// hooksOf returns what has marked a job.
func (t *faults) hooksOf(m mark) *hooks {
	h := &t.slots[m.slot-1].hooks
	if m.answer > 0 {
		return &h.answers[m.answer-1]
	}
	return h
}
