package mockprovider

import (
	"slices"
	"time"
)

// strain is what the faults in force make of the provider as a whole.
type strain struct {
	capacity []int32       // percent, by station
	limits   []int32       // percent, by limit
	ahead    time.Duration // of its clock
	regions  int           // of each model: stations in a row
}

// unstrained is a provider without faults.
func (p *Provider) unstrained() strain {
	hundred := func(n int) []int32 { return slices.Repeat([]int32{100}, n) }
	return strain{capacity: hundred(len(p.stations)), limits: hundred(len(p.gates)), regions: max(p.cfg.Space.Regions, 1)}
}

// strike makes the provider feel the faults that are in force at now, and no
// longer those that were. The strain is worked out afresh, so nothing is left
// of a fault that is over.
func (p *Provider) strike(now time.Duration) {
	is, was := p.unstrained(), p.faults.strain
	for _, slot := range p.faults.ahead {
		if f := &p.faults.slots[slot]; f.strain != nil && f.From <= now {
			f.strain(&is, &f.Where)
		}
	}
	p.faults.strain = is
	for i, g := range p.gates {
		if g, ok := g.(Scaler); ok && is.limits[i] != was.limits[i] {
			g.Scale(now, is.limits[i])
		}
		if g, ok := g.(clocked); ok && is.ahead != was.ahead {
			g.SetClock(now, is.ahead)
		}
	}
}
