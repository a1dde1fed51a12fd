package mockprovider

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
)

// job is a request that was accepted.
type job struct {
	req      wire.Request
	admitted time.Duration
	started  time.Duration
	hungUp   time.Duration // when its client did, or present
	work     Work          // what serving it takes, once it is started
	ticket   uint32
	mark     mark // the fault that decides on its end
	station  uint16
	state    state
	epoch    uint64 // in which it was let in
}

// state is how far a job has come.
type state uint8

const (
	over    state = iota // its number is free
	waiting              // in the queue
	served               // in a slot
	cutOff               // its ticket has ended, and its Done is still to come
)

// underWay reports whether its ticket has not ended.
func (j *job) underWay() bool { return j.state == waiting || j.state == served }

// newJob makes a job of a request that arrives at a station.
func (p *Provider) newJob(now time.Duration, in *wire.Input, station uint16) uint32 {
	if len(p.free) == 0 {
		p.moreJobs()
	}
	i := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	j := &p.jobs[i]
	j.req, j.ticket, j.admitted, j.hungUp = in.Request, in.Ticket, now, connected
	j.station, j.state, j.mark, j.epoch = station, waiting, p.faults.scripted, p.epoch
	if p.watches {
		p.keepTicket(in.Ticket, i)
	}
	return i
}

// moreJobs makes room for one more job.
func (p *Provider) moreJobs() {
	p.free = append(p.free, uint32(len(p.jobs)))
	p.jobs, p.places, p.reported = append(p.jobs, job{}), append(p.places, place{}), append(p.reported, headReport{})
}

// start puts a job into a slot. Its finish is decided now.
func (p *Provider) start(now time.Duration, s *station, i uint32, out []wire.Effect) []wire.Effect {
	j := &p.jobs[i]
	s.service.work(p.rnd, &j.req, &j.work)
	if s.curved {
		p.drag(s, &j.work)
	}
	s.enter(now, s.units(&j.req.Demand))
	j.started, j.state = now, served
	if p.reporter != nil {
		p.reported[i] = headReport{}
	}
	if len(p.faults.works) > 0 || j.mark.slot != 0 {
		p.disturb(j)
	}
	out, e := add(out)
	e.Kind, e.Ticket, e.Job, e.After = wire.Started, j.ticket, i, j.work.Whole
	e.Reply.Tokens, e.Withheld = j.work.Tokens, j.work.Withheld
	if j.req.Stream && j.work.Head != NoHead && j.work.Head < j.work.Whole {
		return p.sendHead(now, s, i, out)
	}
	return out
}

// sendHead lets the first token of a stream leave.
func (p *Provider) sendHead(now time.Duration, s *station, i uint32, out []wire.Effect) []wire.Effect {
	j := &p.jobs[i]
	out, e := add(out)
	e.Kind, e.Ticket, e.Job, e.After = wire.Head, j.ticket, i, saturating.Add(j.work.Head, s.latency)
	e.Reply.Status, e.Reply.Hint.Value, e.Reply.Tokens = 200, wire.NoHint, min(j.work.Tokens, 1)
	if p.reporter != nil {
		p.reportStanding(now, &j.req, &e.Reply)
		p.reported[i] = headReport{e.Reply.Limit, e.Reply.Remaining, e.Reply.Reset}
	}
	return out
}

// done ends a job whose time is over.
func (p *Provider) done(now time.Duration, i uint32, out []wire.Effect) []wire.Effect {
	if int(i) >= len(p.jobs) {
		return out
	}
	j := &p.jobs[i]
	switch {
	case j.state == cutOff:
		p.release(i)
		return out
	case j.state != served:
		return out
	}
	s := p.stations[j.station]
	out, e := add(out)
	e.Kind, e.Ticket, e.Job, e.After, e.Slot = wire.Replied, j.ticket, i, s.latency, now-j.started
	e.Reply.Status, e.Reply.Hint.Value, e.Reply.Tokens = 200, wire.NoHint, j.work.Tokens
	if j.mark.slot != 0 {
		p.spoil(now, j, e)
	}
	if b := e.Reply.Body; b != wire.ErrorBody && b != wire.CodeBody { // errors are not billed
		e.Cost = s.price.of(j.req.Demand.InputTokens, j.work.Tokens)
	}
	ended := Ended{Since: j.admitted, Tokens: j.work.Tokens, Class: e.Reply.Class}
	if p.since == nil { // this is letGo, without a call
		for _, g := range p.gates {
			g.Release(now, &j.req, ended)
		}
	} else {
		p.letGoSince(now, j, ended)
	}
	if p.reporter != nil {
		p.reportAtEnd(now, i, e)
	}
	p.end(j)
	p.release(i)
	s.leave(now, s.units(&j.req.Demand))
	switch {
	case s.n == 0:
		return out
	case s.plain && s.used < s.open:
		return p.start(now, s, s.pop(p.places), out)
	}
	return p.serve(now, s, out)
}

// cut ends a job early, in the queue or in service, with an effect of that kind. The
// gates get the class, and the number of tokens that were produced.
func (p *Provider) cut(now time.Duration, i uint32, kind wire.EffectKind, class wire.Class, out []wire.Effect) []wire.Effect {
	j := &p.jobs[i]
	s := p.stations[j.station]
	out, e := add(out)
	e.Kind, e.Ticket = kind, j.ticket
	if kind != wire.Dropped {
		e.After = s.latency
	}
	ended := Ended{Since: j.admitted, Class: class}
	if j.state == served {
		e.Job, e.Slot = i, now-j.started
		ended.Tokens = j.work.produced(e.Slot)
		if j.req.Stream {
			e.Reply.Tokens = min(ended.Tokens, j.work.Tokens-j.work.Withheld)
		}
		e.Cost = s.price.of(j.req.Demand.InputTokens, ended.Tokens)
		s.leave(now, s.units(&j.req.Demand))
		p.end(j)
		j.state = cutOff
	} else {
		p.leaveQueue(s, i)
		p.end(j)
		p.release(i)
	}
	p.letGo(now, j, ended)
	return out
}

// end notes that the ticket of a job gets no more effects.
func (p *Provider) end(j *job) {
	if p.watches {
		p.jobOf[j.ticket] = noJob
	}
}

// release gives the number of a job to the next.
func (p *Provider) release(i uint32) {
	p.jobs[i].state = over
	p.free = append(p.free, i)
}
