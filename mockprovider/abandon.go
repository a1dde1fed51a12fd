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
	// Noticed says that it does notice: the request is dropped then, wherever it
	// is, and its slot is free.
	Noticed bool
	// Delay is how long that takes.
	Delay time.Duration
}

// validate says what is wrong with the notice.
func (n Notice) validate() error {
	if n.Delay < 0 || n.Delay > longest || n.Delay > 0 && !n.Noticed {
		return fmt.Errorf("the delay must be 0 to %v, and a provider that never notices has none", longest)
	}
	return nil
}

// notice is an abandoned job that will be noticed.
type notice struct {
	at  time.Duration
	job uint32
}

// present is when a client that is still there hung up.
const present time.Duration = -1

// keepTicket remembers the job of a ticket.
func (p *Provider) keepTicket(ticket, job uint32) {
	for int(ticket) >= len(p.jobOf) {
		p.jobOf = append(p.jobOf, nobody)
	}
	p.jobOf[ticket] = job
}

// hangUp takes note of a client that has hung up, if there is anything to note.
func (p *Provider) hangUp(now time.Duration, ticket uint32, out []wire.Effect) []wire.Effect {
	if int(ticket) >= len(p.jobOf) || p.jobOf[ticket] == nobody {
		return out
	}
	i := p.jobOf[ticket]
	j := &p.jobs[i]
	switch n := &p.cfg.Abandoned; {
	case j.hungUp != present:
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

// notice drops those jobs of which it is time to notice that their clients have
// hung up, unless they are over: then the job may be another's by now.
func (p *Provider) notice(now time.Duration, out []wire.Effect) []wire.Effect {
	for p.notices.len() > 0 && p.notices.first().at <= now {
		n := *p.notices.first()
		p.notices.pop()
		if j := &p.jobs[n.job]; j.underWay() && j.hungUp != present && saturating.Add(j.hungUp, p.cfg.Abandoned.Delay) == n.at {
			out = p.forget(now, n.job, out)
		}
	}
	return out
}
