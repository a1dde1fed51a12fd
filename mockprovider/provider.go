package mockprovider

import (
	"errors"
	"fmt"
	"math"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Config describes a provider. The zero value answers everything at once.
type Config struct {
	// RejectKeys are the keys that authentication refuses with BadKey, before
	// any limit is asked.
	RejectKeys []uint8
	BadKey     Refusal
	// Limits are the gates in the order in which they are asked. What earlier
	// gates have taken when a later one, or capacity, refuses is given back,
	// unless KeepOnRefusal.
	Limits        []Limit
	KeepOnRefusal bool
	// Slots is how many requests are served at a time, 0 for no bound; Queue
	// how many may wait for a slot. Full is the reply when there is no room.
	Slots, Queue int
	Full         Refusal
	Service      Service
	// RefusalTime is how long a refusal takes, whatever its reason.
	RefusalTime time.Duration
	Outages     []Outage
	// Accounts is how many accounts there are; 0 means one.
	Accounts int
}

// Validate says everything that is wrong with the configuration.
func (c *Config) Validate() error {
	var errs []error
	for _, l := range c.Limits {
		errs = append(errs, l.Validate())
	}
	for _, o := range c.Outages {
		errs = append(errs, o.Validate())
	}
	if c.Slots < 0 || c.Queue < 0 {
		errs = append(errs, errors.New("capacity: slots and queue must not be negative"))
	}
	if c.Slots == 0 && c.Queue > 0 {
		errs = append(errs, errors.New("capacity: a queue needs a bounded number of slots"))
	}
	if c.RefusalTime < 0 {
		errs = append(errs, errors.New("refusal time must not be negative"))
	}
	return errors.Join(errs...)
}

// Capacity returns what the provider can serve per second: the smallest of
// slots ÷ mean service time and each limit ÷ its window, for calls of the
// given mean output length; 0 if nothing bounds it.
func (c *Config) Capacity(outputTokens float64) float64 {
	least := math.Inf(1)
	mean := c.Service.Mean(outputTokens)
	if c.Slots > 0 && mean > 0 {
		least = float64(c.Slots) / mean.Seconds()
	}
	for _, l := range c.Limits {
		if r := l.Rate(); r > 0 {
			least = min(least, r)
		}
		if s, ok := l.(Semaphore); ok && mean > 0 {
			least = min(least, float64(s.Limit)/mean.Seconds())
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// FaultSpan returns when the first fault begins and the last one ends; both 0
// if there are none.
func (c *Config) FaultSpan() (begin, end time.Duration) {
	for i, o := range c.Outages {
		if i == 0 || o.From < begin {
			begin = o.From
		}
		end = max(end, o.To)
	}
	return begin, end
}

// Provider is a provider in some state. It is stepped by one driver; it is not
// safe for concurrent use.
type Provider struct {
	cfg     Config
	rnd     draw.Rand
	gates   []Gate
	busy    int
	queue   ring
	jobs    []job
	free    []uint32
	outage  int           // index of the outage in force, -1 if none
	changes time.Duration // when outage must be looked at again
	badKeys [4]uint64
}

// job is a request that was accepted.
type job struct {
	req     wire.Request
	ticket  uint32
	started time.Duration
}

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

// New returns a provider in its initial state whose draws come from rnd. It
// reports an invalid configuration.
func New(cfg Config, rnd draw.Rand) (*Provider, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("provider: %w", err)
	}
	p := &Provider{cfg: cfg, rnd: rnd, outage: -1}
	for _, k := range cfg.RejectKeys {
		p.badKeys[k>>6] |= 1 << (k & 63)
	}
	for _, l := range cfg.Limits {
		p.gates = append(p.gates, l.Gate(cfg.Accounts))
	}
	p.look(0)
	return p, nil
}

// Step advances the state machine to now and appends what it does in answer to
// in. Times must not decrease from step to step.
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

// look finds the outage in force at now and when that changes.
func (p *Provider) look(now time.Duration) {
	p.outage, p.changes = -1, never
	for i, o := range p.cfg.Outages {
		switch {
		case now < o.From:
			p.changes = min(p.changes, o.From)
		case now < o.To:
			p.outage = i
			p.changes = min(p.changes, o.To)
		}
	}
}

func (p *Provider) arrive(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	r := &in.Request
	if p.outage >= 0 {
		out, e := p.refuse(in.Ticket, out)
		f := &p.cfg.Outages[p.outage]
		f.Refusal.reply(&e.Reply, wire.Overloaded, f.To-now, 0, 0)
		return out
	}
	if p.badKeys[r.Target.Key>>6]>>(r.Target.Key&63)&1 != 0 {
		out, e := p.refuse(in.Ticket, out)
		p.cfg.BadKey.reply(&e.Reply, wire.Auth, wire.NoHint, 0, 0)
		return out
	}
	for i, g := range p.gates {
		if !g.Take(now, r) {
			out, e := p.refuse(in.Ticket, out)
			g.Refuse(now, r, &e.Reply)
			p.undo(now, r, i)
			return out
		}
	}
	if p.cfg.Slots == 0 || p.busy < p.cfg.Slots {
		return p.start(now, p.newJob(in), out)
	}
	if p.queue.len() < p.cfg.Queue {
		p.queue.push(p.newJob(in))
		return out
	}
	p.undo(now, r, len(p.gates))
	out, e := p.refuse(in.Ticket, out)
	p.cfg.Full.reply(&e.Reply, wire.Overloaded, wire.NoHint, 0, 0)
	return out
}

// undo gives back what the first n gates have taken for r.
func (p *Provider) undo(now time.Duration, r *wire.Request, n int) {
	for _, g := range p.gates[:n] {
		if p.cfg.KeepOnRefusal {
			// A kept unit of a window is spent; a permit must come back all
			// the same, since no work holds it.
			g.Release(now, r)
		} else {
			g.Undo(now, r)
		}
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

func (p *Provider) newJob(in *wire.Input) uint32 {
	var i uint32
	if n := len(p.free); n > 0 {
		i = p.free[n-1]
		p.free = p.free[:n-1]
	} else {
		i = uint32(len(p.jobs))
		p.jobs = append(p.jobs, job{})
	}
	j := &p.jobs[i]
	j.req, j.ticket = in.Request, in.Ticket
	return i
}

// start puts a job into a slot. Its finish is decided now.
func (p *Provider) start(now time.Duration, i uint32, out []wire.Effect) []wire.Effect {
	j := &p.jobs[i]
	p.busy++
	j.started = now
	out, e := add(out)
	e.Kind, e.Ticket, e.Job, e.After = wire.Started, j.ticket, i, p.cfg.Service.Time(p.rnd, &j.req)
	return out
}

func (p *Provider) done(now time.Duration, i uint32, out []wire.Effect) []wire.Effect {
	j := &p.jobs[i]
	p.busy--
	for _, g := range p.gates {
		g.Release(now, &j.req)
	}
	out, e := add(out)
	e.Kind, e.Ticket, e.Job, e.Slot = wire.Replied, j.ticket, i, now-j.started
	e.Reply.Status, e.Reply.Class, e.Reply.RetryAfter = 200, wire.OK, wire.NoHint
	p.free = append(p.free, i)
	if p.queue.len() > 0 {
		out = p.start(now, p.queue.pop(), out)
	}
	return out
}

// Busy and Queued return how many requests are in service and in the queue.
func (p *Provider) Busy() int   { return p.busy }
func (p *Provider) Queued() int { return p.queue.len() }

// ring is a first-in-first-out queue of jobs.
type ring struct {
	buf  []uint32 // its length is a power of two
	head uint32
	n    int
}

func (q *ring) len() int { return q.n }

func (q *ring) push(v uint32) {
	if q.n == len(q.buf) {
		grown := make([]uint32, max(16, 2*len(q.buf)))
		for i := range q.n {
			grown[i] = q.buf[(int(q.head)+i)&(len(q.buf)-1)]
		}
		q.buf, q.head = grown, 0
	}
	q.buf[(int(q.head)+q.n)&(len(q.buf)-1)] = v
	q.n++
}

func (q *ring) pop() uint32 {
	v := q.buf[q.head]
	q.head = (q.head + 1) & uint32(len(q.buf)-1)
	q.n--
	return v
}
