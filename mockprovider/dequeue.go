package mockprovider

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
)

// enqueued sees to a job that has just joined a queue that is not plain.
func (p *Provider) enqueued(now time.Duration, s *station, i uint32, out []wire.Effect) []wire.Effect {
	r := &p.jobs[i].req
	if s.ranked() {
		s.ranking.push(p.places, i, s.key(r))
	}
	s.backlog += s.units(&r.Demand)
	if s.used < s.open { // the next job is too large for the free slots; the new one may fit
		return p.serve(now, s, out)
	}
	return out
}

// key is where a request ranks in the queue.
func (s *station) key(r *wire.Request) uint64 {
	switch s.Order {
	case ShortestFirst:
		return uint64(s.Service.expected(&r.Demand))
	case UrgentFirst:
		return uint64(r.Demand.Priority)
	}
	return 0
}

// leaveQueue takes a job out of the queue.
func (p *Provider) leaveQueue(s *station, i uint32) {
	s.remove(p.places, i)
	if !s.plain {
		s.backlog -= s.units(&p.jobs[i].req.Demand)
	}
}

// serve starts waiting jobs while there are slots for them, and drops those that
// the discipline drops.
func (p *Provider) serve(now time.Duration, s *station, out []wire.Effect) []wire.Effect {
	if s.MaxWait > 0 && s.used < s.open {
		for s.n > 0 && now-p.jobs[s.oldest].admitted > s.MaxWait {
			out = p.drop(now, s, s.oldest, out)
		}
	}
	for s.n > 0 {
		i := s.next()
		j := &p.jobs[i]
		switch {
		case !s.has(s.units(&j.req.Demand)):
			return out
		case s.DropGone && j.hungUp != connected:
			out = p.cut(now, i, wire.Dropped, wire.Cancelled, out)
		case s.shedder.Interval > 0 && s.shedder.drops(now, now-j.admitted, s.n == 1):
			out = p.drop(now, s, i, out)
		default:
			p.leaveQueue(s, i)
			out = p.start(now, s, i, out)
		}
	}
	return out
}

// drop refuses a waiting job as if there had been no room; without a reply, if the
// discipline looks for hang-ups and its client has hung up.
func (p *Provider) drop(now time.Duration, s *station, i uint32, out []wire.Effect) []wire.Effect {
	if s.DropGone && p.jobs[i].hungUp != connected {
		return p.cut(now, i, wire.Dropped, wire.Cancelled, out)
	}
	out = p.cut(now, i, wire.Replied, wire.Overloaded, out)
	e := &out[len(out)-1]
	e.After = saturating.Add(e.After, p.cfg.RefusalTime)
	p.write(now, &p.jobs[i].req, Verdict{Class: wire.Overloaded}, &s.Full, &e.Reply)
	return out
}
