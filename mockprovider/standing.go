package mockprovider

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// MaxCounters is the largest number of counters that a limit may keep.
const MaxCounters = 1 << 28

// countable reports an error if a limit needs more counters than MaxCounters.
func (c *Config) countable(l Limit) error {
	if s := c.FullSpace(); s.validate() == nil && l.Counters(s) > MaxCounters {
		return fmt.Errorf("it distinguishes too many callers; at most %d, so take a smaller space or count more of them together", MaxCounters)
	}
	return nil
}

// headReport is what the head of a reply has stated of the limit; zero if no head
// was sent.
type headReport struct {
	limit, remaining int32
	reset            time.Duration
}

// reportAtEnd lets the end of a job describe the limit, as the head did if one was
// sent: headers come once.
func (p *Provider) reportAtEnd(now time.Duration, i uint32, e *wire.Effect) {
	r := &p.jobs[i].req
	switch t := &p.reported[i]; {
	case e.Kind != wire.Replied:
	case t.limit > 0:
		e.Reply.Limit, e.Reply.Remaining, e.Reply.Reset = t.limit, t.remaining, t.reset
		e.Reply.Marks |= p.formsFor(r)[wire.OK].Marks
	case e.Reply.Class == wire.OK:
		p.reportStanding(now, r, &e.Reply)
	}
}

// reportStanding lets a success describe the reported limit.
func (p *Provider) reportStanding(now time.Duration, r *wire.Request, to *wire.Reply) {
	s := p.reporter.Standing(now, r)
	to.Limit, to.Remaining, to.Reset = s.Limit, s.Remaining, s.Reset
	to.Marks |= p.formsFor(r)[wire.OK].Marks
	if to.Reset != 0 && to.Marks&wire.ResetAsTime != 0 {
		to.Reset = p.dated(now, to.Reset, 1, false)
	}
}

// Standing returns how the caller of r stands with a limit, counted from 1, at
// now; ok reports whether there is such a limit, and whether it reports that. It
// changes nothing.
func (p *Provider) Standing(limit int, now time.Duration, r *wire.Request) (s Standing, ok bool) {
	if limit < 1 || limit > len(p.gates) || p.reject(r) != wire.OK {
		return Standing{}, false
	}
	g, ok := p.gates[limit-1].(StandingReporter)
	if !ok {
		return Standing{}, false
	}
	return g.Standing(now, r), true
}
