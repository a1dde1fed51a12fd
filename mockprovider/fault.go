package mockprovider

import (
	"errors"
	"time"

	"herdlab/mockprovider/wire"
)

// Outage is a fault during which the provider refuses every arrival:
// From ≤ t < To. Work that is queued or in service is carried on.
type Outage struct {
	From, To time.Duration
	// Refusal is its reply; As503 by default. An exact hint counts until no
	// outage is in force any more, the ones that follow on this included.
	Refusal Refusal
}

// Validate says what is wrong with the outage, and what to do.
func (o Outage) Validate() error {
	switch {
	case o.From < 0:
		return errors.New("it must not begin before 0")
	case o.To <= o.From:
		return errors.New("it must end after it begins")
	}
	return o.Refusal.Validate()
}

// look finds the outage in force at now, when that changes, and when no outage
// will follow on another.
func (p *Provider) look(now time.Duration) {
	p.outage, p.over, p.changes = -1, now, never
	for i, o := range p.cfg.Outages {
		switch {
		case now < o.From:
			p.changes = min(p.changes, o.From)
		case now < o.To:
			p.outage = i
			p.changes = min(p.changes, o.To)
		}
	}
	for i := 0; i < len(p.cfg.Outages); i++ {
		if o := &p.cfg.Outages[i]; o.From <= p.over && p.over < o.To {
			p.over, i = o.To, -1 // and who follows on that?
		}
	}
}

// trouble lets the faults in force act on an arrival. It reports whether they
// have dealt with it.
func (p *Provider) trouble(now time.Duration, in *wire.Input, out []wire.Effect) ([]wire.Effect, bool) {
	if p.outage < 0 {
		return out, false
	}
	out, e := p.refuse(in.Ticket, out)
	p.cfg.Outages[p.outage].Refusal.reply(&e.Reply, wire.Overloaded, p.over-now, 0, 0)
	p.phrase(now, &e.Reply)
	return out, true
}
