package mockprovider

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
)

// Notice is whether and when a provider notices that a client has hung up. The
// zero Notice never does: the work goes on, its slot stays held and its answer
// is wasted.
type Notice struct {
	// Noticed is true if it does: the request is dropped then, in the queue or in
	// service, and its slot is free.
	Noticed bool
	// Delay is the time from the hang-up to the notice.
	Delay time.Duration
}

// validate reports an error if the notice is invalid.
func (n Notice) validate() error {
	if n.Delay < 0 || n.Delay > longest || n.Delay > 0 && !n.Noticed {
		return fmt.Errorf("the delay must be 0 to %v, and a provider that never notices has none", longest)
	}
	return nil
}

// notice is a job whose client has hung up, which will be noticed.
type notice struct {
	at  time.Duration
	job uint32
}

// connected is the value of hungUp while the client is connected.
const connected time.Duration = -1

// keepTicket remembers the job of a ticket.
func (p *Provider) keepTicket(ticket, job uint32) {
	for int(ticket) >= len(p.jobOf) {
		p.jobOf = append(p.jobOf, noJob)
	}
	p.jobOf[ticket] = job
}

// hangUp handles a client that hangs up, if its request has not ended.
func (p *Provider) hangUp(now time.Duration, ticket uint32, out []wire.Effect) []wire.Effect {
	if int(ticket) >= len(p.jobOf) || p.jobOf[ticket] == noJob {
		return out
	}
	i := p.jobOf[ticket]
	j := &p.jobs[i]
	switch n := &p.cfg.Abandoned; {
	case j.hungUp != connected:
		return out
	case n.Noticed && n.Delay == 0:
		return p.forget(now, i, out)
	case n.Noticed:
		at := saturating.Add(now, n.Delay)
		p.notices.push(notice{at, i})
		p.wakes = min(p.wakes, at)
	}
	j.hungUp = now
	return out
}

// forget drops the job of a client that has hung up.
func (p *Provider) forget(now time.Duration, i uint32, out []wire.Effect) []wire.Effect {
	s := p.stations[p.jobs[i].station]
	return p.serve(now, s, p.cut(now, i, wire.Dropped, wire.Cancelled, out))
}

// notice drops the jobs whose hang-up is noticed by now. A job that has ended is
// left alone: its number may belong to another request.
func (p *Provider) notice(now time.Duration, out []wire.Effect) []wire.Effect {
	for p.notices.len() > 0 && p.notices.first().at <= now {
		n := *p.notices.first()
		p.notices.pop()
		if j := &p.jobs[n.job]; j.underWay() && j.hungUp != connected && saturating.Add(j.hungUp, p.cfg.Abandoned.Delay) == n.at {
			out = p.forget(now, n.job, out)
		}
	}
	return out
}
