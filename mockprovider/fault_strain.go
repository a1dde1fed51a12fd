package mockprovider

import (
	"slices"
	"time"
)

// Strain is the joint effect of the faults in force on the provider as a whole.
type Strain struct {
	capacity []int32       // percent, by station
	limits   []int32       // percent, by limit
	ahead    time.Duration // of its clock
	regions  int           // of each model: stations in a row
}

// CutCapacity leaves the models and regions that where names that percentage,
// 0 to 100, of their slots; at least one slot unless percent is 0. Several cuts
// multiply.
func (s *Strain) CutCapacity(where *Match, percent int32) {
	for i := range s.capacity {
		if where.Models.Has(uint32(i/s.regions)) && where.Regions.Has(uint32(i%s.regions)) {
			s.capacity[i] = percentOf(s.capacity[i], percent)
		}
	}
}

// CutLimit leaves that percentage, 0 to 100, of a limit, counted from 1; 0 is
// all limits. Several cuts multiply.
func (s *Strain) CutLimit(number int, percent int32) {
	for i := range s.limits {
		if number == 0 || number == i+1 {
			s.limits[i] = percentOf(s.limits[i], percent)
		}
	}
}

// AdvanceClock sets the provider's clock ahead, or back if d is negative.
// Several add up.
func (s *Strain) AdvanceClock(d time.Duration) { s.ahead = min(max(s.ahead+d, -longest), longest) }

// percentOf returns percent % of another percentage, at least 1 unless one of
// them is 0.
func percentOf(of, percent int32) int32 {
	if percent == 0 || of == 0 {
		return 0
	}
	return max(1, percent*of/100)
}

// unstrained is a provider without faults.
func (p *Provider) unstrained() Strain {
	hundred := func(n int) []int32 { return slices.Repeat([]int32{100}, n) }
	return Strain{capacity: hundred(len(p.stations)), limits: hundred(len(p.gates)), regions: max(p.cfg.Space.Regions, 1)}
}

// strike makes the provider feel the faults that are in force at now, and no
// longer those that were. The strain is worked out afresh, so nothing is left
// of a fault that is over.
func (p *Provider) strike(now time.Duration) {
	is, was := p.unstrained(), p.faults.strain
	for _, slot := range p.faults.ahead {
		if f := &p.faults.slots[slot]; f.Strain != nil && f.From <= now {
			f.Strain(&is, &f.Where)
		}
	}
	p.faults.strain = is
	for i, g := range p.gates {
		if g, ok := g.(Scaler); ok && is.limits[i] != was.limits[i] {
			g.Scale(now, is.limits[i])
		}
		if g, ok := g.(ClockSetter); ok && is.ahead != was.ahead {
			g.SetClock(now, is.ahead)
		}
	}
}
