package mockprovider

import (
	"fmt"
	"math"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Provider is a provider in some state. It is stepped by one driver; it is not
// safe for concurrent use.
type Provider struct {
	cfg        Config
	forms      wire.Forms
	otherForms []*wire.Forms // of other dialects, from 1; see SetForms
	rnd        draw.Rand
	gates      []Gate
	badKeys    [4]uint64
	known      known
	acceptsAll bool             // no request is rejected before the limits
	reporter   StandingReporter // the gate that successes describe; nil if there is no such gate
	epoch      uint64           // how often gates have been made anew, and accounts forgotten
	since      []uint64         // by gate: the epoch in which it was; nil in the first epoch
	owned      []uint64         // by account: the epoch in which it was forgotten

	stations          []*station
	byModel, byRegion int  // strides of the stations
	far               bool // some replies travel longer than others

	jobs   []job
	places []place // of the jobs in their queues
	free   []uint32

	faults  faults
	changes time.Duration // when the faults must be looked at again
	wakes   time.Duration // when anything changes by itself

	watches  bool     // hang-ups matter
	pooled   bool     // some station has a pool of tokens for slots
	jobOf    []uint32 // by ticket; noJob if there is none
	notices  ring[notice]
	reported []headReport // by job: what its head has stated
}

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

// Longest is the longest time that anything may take: a few of them may be added
// up, and to any time of a run.
const Longest = longest

const longest = never / 4

// MaxFactor is the largest factor that times may be multiplied by.
const MaxFactor = 1e9

// ValidateDuration reports an error if d, which the error calls what, is not a
// time from 0 to Longest.
func ValidateDuration(what string, d time.Duration) error {
	if d < 0 || d > longest {
		return fmt.Errorf("%s must be 0 to %v, not %v", what, longest, d)
	}
	return nil
}

// New returns a provider in its initial state whose draws come from rnd. It
// reports an invalid configuration.
func New(cfg Config, rnd draw.Rand) (*Provider, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("provider: %w", err)
	}
	p := &Provider{
		cfg: cfg.clone(), forms: wire.Plain(), rnd: rnd,
	}
	if cfg.Forms != nil {
		p.forms = *cfg.Forms
	}
	for _, k := range cfg.RejectKeys {
		p.badKeys[k>>6] |= 1 << (k & 63)
	}
	p.known = p.cfg.Space.known()
	p.acceptsAll = p.known == allKnown && len(cfg.RejectKeys) == 0
	for _, l := range cfg.Limits {
		p.gates = append(p.gates, l.Gate(p.cfg.Space))
	}
	if cfg.ReportedLimit > 0 {
		p.reporter, _ = p.gates[cfg.ReportedLimit-1].(StandingReporter)
	}
	p.build()
	p.faults.strain = p.unstrained()
	if err := p.declare(); err != nil {
		return nil, fmt.Errorf("provider: %w", err)
	}
	p.wake(0, nil)
	return p, nil
}

// Step advances the state machine to now and appends what it does in answer to
// in. Times are since the run began, ≥ 0, and must not decrease from step to
// step. What is Done that is not in service is ignored.
func (p *Provider) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	if now >= p.wakes {
		out = p.wake(now, out)
	}
	switch in.Kind {
	case wire.Arrive:
		return p.arrive(now, in, out)
	case wire.Done:
		return p.done(now, in.Job, out)
	case wire.Abandon:
		return p.hangUp(now, in.Ticket, out)
	default:
		return out
	}
}

// NextTick returns when the provider next changes by itself; the driver steps
// it with a Tick then.
func (p *Provider) NextTick() time.Duration { return p.wakes }

// wake does what is due by now without an input: faults begin and end, the number
// of slots changes, and hang-ups are noticed.
func (p *Provider) wake(now time.Duration, out []wire.Effect) []wire.Effect {
	strained := now >= p.changes
	if strained {
		p.look(now)
		p.strike(now)
	}
	for i := range p.stations {
		s := p.stations[i]
		if was := s.open; strained || now >= s.changes {
			if s.resize(now, p.faults.strain.capacity[i]); s.open > was {
				out = p.serve(now, s, out)
			}
		}
	}
	out = p.notice(now, out)
	p.wakes = p.changes
	for i := range p.stations {
		p.wakes = min(p.wakes, p.stations[i].changes)
	}
	if p.notices.len() > 0 {
		p.wakes = min(p.wakes, p.notices.first().at)
	}
	return out
}

func (p *Provider) arrive(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	r := &in.Request
	in.Faulted = 0
	if len(p.faults.arrivals) > 0 {
		var dealt bool
		if out, dealt = p.trouble(now, in, out); dealt {
			in.Faulted = 100
			return out
		}
	}
	if !p.acceptsAll {
		if class := p.reject(r); class != wire.OK {
			return p.refuse(now, in, class, p.rejection(class), out)
		}
	}
	k := p.stationOf(r.Target)
	s := p.stations[k]
	units := 1
	if p.pooled {
		if units = s.units(&r.Demand); units > s.most {
			return p.refuse(now, in, wire.TooLarge, &usual, out)
		}
	}
	for i, g := range p.gates {
		if !g.Take(now, r) {
			in.Faulted = uint8(100 - p.faults.strain.limits[i])
			out, e := p.atOnce(in, out)
			p.write(now, r, g.Refuse(now, r), g.Form(r), &e.Reply)
			p.undo(now, r, i)
			return out
		}
	}
	if !s.curved || !p.turnsAway(s, r) {
		if s.n == 0 && s.has(units) {
			return p.start(now, s, p.newJob(now, in, k), out)
		}
		in.Faulted = uint8(100 - p.faults.strain.capacity[k])
		if s.n < s.places {
			i := p.newJob(now, in, k)
			s.join(p.places, i)
			if s.plain {
				return out
			}
			return p.enqueued(now, s, i, out)
		}
	}
	in.Faulted = uint8(100 - p.faults.strain.capacity[k])
	p.undo(now, r, len(p.gates))
	return p.refuse(now, in, wire.Overloaded, &s.Full, out)
}

// undo undoes r at the first n gates, which have admitted it.
func (p *Provider) undo(now time.Duration, r *wire.Request, n int) {
	for _, g := range p.gates[:n] {
		g.Undo(now, r)
	}
}

// add appends an empty effect and returns it to be filled in place: copying
// a struct that has just been built field by field stalls the processor.
func add(out []wire.Effect) ([]wire.Effect, *wire.Effect) {
	out = append(out, wire.Effect{})
	return out, &out[len(out)-1]
}

// refuse appends the refusal of a request that arrives, for another reason than
// a limit.
func (p *Provider) refuse(now time.Duration, in *wire.Input, class wire.Class, form *Refusal, out []wire.Effect) []wire.Effect {
	out, e := p.atOnce(in, out)
	p.write(now, &in.Request, Verdict{Class: class}, form, &e.Reply)
	return out
}

// atOnce appends a reply to a request that arrives, without work; the caller
// fills it in.
func (p *Provider) atOnce(in *wire.Input, out []wire.Effect) ([]wire.Effect, *wire.Effect) {
	out, e := add(out)
	e.Kind, e.Ticket, e.After = wire.Replied, in.Ticket, p.cfg.RefusalTime
	if r := int(in.Request.Target.Region); p.far && r < len(p.cfg.Regions) {
		e.After += p.cfg.Regions[r].Latency
	}
	return out, e
}

// Busy and Queued return how many requests are in service and in the queues.
func (p *Provider) Busy() (n int) {
	for i := range p.stations {
		n += p.stations[i].busy
	}
	return n
}

// Queued: see Busy.
func (p *Provider) Queued() (n int) {
	for i := range p.stations {
		n += p.stations[i].n
	}
	return n
}
