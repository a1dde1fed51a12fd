package mockprovider

import (
	"fmt"
	"math"
	"slices"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Provider is a provider in some state. It is stepped by one driver; it is not
// safe for concurrent use.
type Provider struct {
	cfg      Config
	forms    wire.Forms
	rnd      draw.Rand
	gates    []Gate
	station  station
	jobs     []job
	free     []uint32
	outage   int           // index of the outage in force, -1 if none
	over     time.Duration // when no outage will be in force any more
	changes  time.Duration // when outage must be looked at again
	badKeys  [4]uint64
	accounts uint64 // others are unknown
}

// job is a request that was accepted.
type job struct {
	req      wire.Request
	ticket   uint32
	admitted time.Duration
	started  time.Duration // notServed before and after
}

const notServed time.Duration = -1

// never is a time that does not come. longest is the longest time that anything
// takes: a few of them may be added up, and to any time of a run.
const (
	never   = time.Duration(math.MaxInt64)
	longest = never / 4
)

// later returns the time d ≥ 0 after t ≥ 0, or never.
func later(t, d time.Duration) time.Duration {
	if s := t + d; s >= t {
		return s
	}
	return never
}

// New returns a provider in its initial state whose draws come from rnd. It
// reports an invalid configuration.
func New(cfg Config, rnd draw.Rand) (*Provider, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("provider: %w", err)
	}
	p := &Provider{
		cfg: cfg, forms: wire.Plain(), rnd: rnd, accounts: math.MaxUint64,
		station: station{slots: cfg.Slots, places: cfg.Queue},
	}
	p.cfg.Outages = slices.Clone(cfg.Outages)
	if cfg.Forms != nil {
		p.forms = *cfg.Forms
	}
	for _, k := range cfg.RejectKeys {
		p.badKeys[k>>6] |= 1 << (k & 63)
	}
	if cfg.Accounts > 0 {
		p.accounts = uint64(cfg.Accounts)
	}
	for _, l := range cfg.Limits {
		p.gates = append(p.gates, l.Gate(cfg.Space))
	}
	p.look(0)
	return p, nil
}

// Step advances the state machine to now and appends what it does in answer to
// in. Times are since the run began, ≥ 0, and must not decrease from step to
// step. What is Done that is not in service is ignored.
func (p *Provider) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	if now >= p.changes {
		p.look(now)
	}
	switch in.Kind {
	case wire.Arrive:
		return p.arrive(now, in, out)
	case wire.Done:
		return p.done(now, in.Job, out)
	default:
		// A provider does not notice a client that hangs up: the work goes on
		// and its answer is wasted.
		return out
	}
}

// NextTick returns when the provider next changes by itself; the driver steps
// it with a Tick then.
func (p *Provider) NextTick() time.Duration { return p.changes }

func (p *Provider) arrive(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	r := &in.Request
	if out, done := p.trouble(now, in, out); done {
		return out
	}
	if p.badKeys[r.Target.Key>>6]>>(r.Target.Key&63)&1 != 0 || uint64(r.Account) >= p.accounts {
		out, e := p.refuse(in.Ticket, out)
		p.cfg.BadKey.reply(&e.Reply, wire.Auth, wire.NoHint, 0, 0)
		p.phrase(now, &e.Reply)
		return out
	}
	for i, g := range p.gates {
		if !g.Take(now, r) {
			out, e := p.refuse(in.Ticket, out)
			g.Refuse(now, r, &e.Reply)
			p.phrase(now, &e.Reply)
			p.undo(now, r, i)
			return out
		}
	}
	if p.station.hasSlot() {
		return p.start(now, p.newJob(now, in), out)
	}
	if p.station.hasPlace() {
		p.station.queue.push(p.newJob(now, in))
		return out
	}
	p.undo(now, r, len(p.gates))
	out, e := p.refuse(in.Ticket, out)
	p.cfg.Full.reply(&e.Reply, wire.Overloaded, wire.NoHint, 0, 0)
	p.phrase(now, &e.Reply)
	return out
}

// undo tells the first n gates, which have let r in, that it was refused.
func (p *Provider) undo(now time.Duration, r *wire.Request, n int) {
	for _, g := range p.gates[:n] {
		g.Undo(now, r, p.cfg.KeepOnRefusal)
	}
}

// add appends an empty effect and returns it to be filled in place: copying
// a struct that has just been built field by field stalls the processor.
func add(out []wire.Effect) ([]wire.Effect, *wire.Effect) {
	out = append(out, wire.Effect{})
	return out, &out[len(out)-1]
}

// refuse appends a refusal, whose reply is still to be written.
func (p *Provider) refuse(ticket uint32, out []wire.Effect) ([]wire.Effect, *wire.Effect) {
	out, e := add(out)
	e.Kind, e.Ticket, e.After = wire.Replied, ticket, p.cfg.RefusalTime
	return out, e
}

func (p *Provider) newJob(now time.Duration, in *wire.Input) uint32 {
	var i uint32
	if n := len(p.free); n > 0 {
		i = p.free[n-1]
		p.free = p.free[:n-1]
	} else {
		i = uint32(len(p.jobs))
		p.jobs = append(p.jobs, job{})
	}
	j := &p.jobs[i]
	j.req, j.ticket, j.admitted, j.started = in.Request, in.Ticket, now, notServed
	return i
}

// start puts a job into a slot. Its finish is decided now.
func (p *Provider) start(now time.Duration, i uint32, out []wire.Effect) []wire.Effect {
	j := &p.jobs[i]
	p.station.enter()
	j.started = now
	out, e := add(out)
	e.Kind, e.Ticket, e.Job, e.After = wire.Started, j.ticket, i, p.cfg.Service.Time(p.rnd, &j.req)
	return out
}

func (p *Provider) done(now time.Duration, i uint32, out []wire.Effect) []wire.Effect {
	if int(i) >= len(p.jobs) || p.jobs[i].started == notServed {
		return out
	}
	j := &p.jobs[i]
	for _, g := range p.gates {
		g.Release(now, &j.req, Ended{Since: j.admitted, Tokens: j.req.Demand.Output()})
	}
	out, e := add(out)
	e.Kind, e.Ticket, e.Job, e.Slot = wire.Replied, j.ticket, i, now-j.started
	e.Reply.Status, e.Reply.RetryAfter, e.Reply.Tokens = 200, wire.NoHint, j.req.Demand.Output()
	j.started = notServed
	p.free = append(p.free, i)
	if next, waits := p.station.leave(); waits {
		out = p.start(now, next, out)
	}
	return out
}

// Busy and Queued return how many requests are in service and in the queue.
func (p *Provider) Busy() int   { return p.station.busy }
func (p *Provider) Queued() int { return p.station.queue.len() }
