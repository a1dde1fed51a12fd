package mockprovider

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"herdlab/mockprovider/wire"
)

// SetLimit puts another limit in the place of the one with that number, counted
// from 1, at now. It begins with nothing counted, also of what is
// in flight. NextTick is due at once then.
func (p *Provider) SetLimit(now time.Duration, number int, l Limit) error {
	switch {
	case number < 1 || number > len(p.gates):
		return fmt.Errorf("there is no limit %d; the provider has %d", number, len(p.gates))
	case l == nil:
		return errors.New("a limit cannot be taken away; set a high one")
	}
	if err := errors.Join(l.Validate(), p.cfg.countable(l)); err != nil {
		return fmt.Errorf("limit %d: %w", number, err)
	}
	p.cfg.Limits = slices.Clone(p.cfg.Limits) // it may be the caller's
	p.cfg.Limits[number-1] = l
	p.begin()
	p.renew(number - 1)
	p.due(now)
	return nil
}

// Reset makes all limits forget everything at now, as if no request had arrived yet,
// and restores the faults of the configuration: what was injected is gone, what
// was cleared is back, and scripts begin anew. Limits that were set stay. What is
// queued or in service is carried on, though no limit counts it any more.
// NextTick is due at once then.
func (p *Provider) Reset(now time.Duration) error {
	p.begin()
	for i := range p.gates {
		p.renew(i)
	}
	for i := range p.faults.slots {
		p.faults.slots[i].gone = true
	}
	p.faults.numbers, p.faults.ahead = 0, nil
	p.due(now)
	return p.declare()
}

// Forget makes all limits forget what an account has used, as if it had never
// come, so that its counters serve another caller; scripts begin anew for it.
// What it has queued or in service is carried on, though no limit of accounts
// counts it any more. Where accounts are not distinguished, nothing happens.
func (p *Provider) Forget(account uint32) {
	if uint64(account) >= uint64(p.cfg.Accounts) {
		return
	}
	p.begin()
	if n := int(account) + 1 - len(p.owned); n > 0 {
		p.owned = append(p.owned, make([]uint64, n)...)
	}
	p.owned[account] = p.epoch
	for _, g := range p.gates {
		if g, ok := g.(Forgetter); ok {
			g.Forget(account)
		}
	}
	for _, slot := range p.faults.ahead {
		if f := &p.faults.slots[slot]; f.Forget != nil {
			f.Forget(account)
		}
	}
}

// begin begins another epoch: from now on it matters when a job was let in.
func (p *Provider) begin() {
	p.epoch++
	if p.since == nil {
		p.since = make([]uint64, len(p.gates))
	}
}

// renew makes a gate anew. What was let in before this epoch is not its.
func (p *Provider) renew(i int) {
	l := p.cfg.Limits[i]
	p.gates[i] = l.Gate(p.cfg.Space)
	if p.cfg.ReportedLimit == i+1 {
		p.reporter, _ = p.gates[i].(StandingReporter)
	}
	p.since[i] = p.epoch
	p.faults.strain.limits[i] = 100
	if g, ok := p.gates[i].(ClockSetter); ok && p.faults.strain.ahead != 0 {
		g.SetClock(0, p.faults.strain.ahead)
	}
}

// letGo releases a job at the gates that have admitted it.
func (p *Provider) letGo(now time.Duration, j *job, ended Ended) {
	if p.since != nil {
		p.letGoSince(now, j, ended)
		return
	}
	for _, g := range p.gates {
		g.Release(now, &j.req, ended)
	}
}

// letGoSince is letGo after the first epoch. A gate does not hear of what it has
// not let in, nor of the work of an account's former owner.
func (p *Provider) letGoSince(now time.Duration, j *job, ended Ended) {
	former := int(j.req.Account) < len(p.owned) && j.epoch < p.owned[j.req.Account]
	for i, g := range p.gates {
		if j.epoch < p.since[i] || former && forgets(g, &j.req) {
			continue
		}
		g.Release(now, &j.req, ended)
	}
}

// forgets reports whether a gate has the counter of r for one account alone.
func forgets(g Gate, r *wire.Request) bool {
	f, ok := g.(Forgetter)
	return ok && f.Forgets(r)
}
