package mockprovider

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// maxFaults is how many faults a provider holds at a time.
const maxFaults = math.MaxUint16 - 1

// Injected is a fault of a running provider.
type Injected struct {
	// ID is its number: faults of the configuration count from 0, those that
	// were injected follow.
	ID int
	Fault
}

// declare puts the faults of the configuration in place.
func (p *Provider) declare() error {
	for _, f := range p.cfg.Faults {
		if err := p.place(f); err != nil {
			return err
		}
	}
	return nil
}

// place gives a fault the next number, and a slot.
func (p *Provider) place(f Fault) error {
	t := &p.faults
	slot := -1
	if len(t.slots) > len(t.ahead) {
		slot = slices.IndexFunc(t.slots, func(s fault) bool { return s.gone && !p.remembered(s.slot) })
	}
	if slot < 0 {
		slot = len(t.slots)
		if slot >= maxFaults {
			return fmt.Errorf("there are %d faults already; clear some", slot)
		}
		t.slots = append(t.slots, fault{})
	}
	t.slots[slot] = fault{
		Fault: f, Hooks: f.Does.Hooks(p.cfg.Space), number: t.numbers, slot: uint16(slot),
		all: f.Where == Match{}, sure: f.certain(),
	}
	t.ahead = append(t.ahead, uint16(slot))
	t.numbers++
	return nil
}

// remembered reports whether a job is marked with the fault in that slot.
func (p *Provider) remembered(slot uint16) bool {
	return slices.ContainsFunc(p.jobs, func(j job) bool { return j.mark.slot == slot+1 })
}

// Inject adds a fault at now, at the end of the list, and returns its number.
// NextTick is due at once then, and the fault is in force from the next step on.
func (p *Provider) Inject(now time.Duration, f Fault) (id int, err error) {
	if err = p.cfg.checkFault(&f); err == nil && f.To <= now {
		err = fmt.Errorf("it ends at %v, and it is %v already", f.To, now)
	}
	if err == nil {
		err = p.place(f)
	}
	if err != nil {
		return 0, fmt.Errorf("fault: %w", err)
	}
	p.due(now)
	return p.faults.numbers - 1, nil
}

// Clear ends a fault at now, as if its time were over; NextTick is due at once.
// Work that it has struck ends as was decided when it started. It reports
// whether there was such a fault.
func (p *Provider) Clear(now time.Duration, id int) bool {
	for _, slot := range p.faults.ahead {
		if f := &p.faults.slots[slot]; f.number == id && !f.gone && now < f.To {
			f.gone = true
			p.due(now)
			return true
		}
	}
	return false
}

// Faults returns the faults that are in force at now, or will be, in the order
// of their numbers.
func (p *Provider) Faults(now time.Duration) []Injected {
	var all []Injected
	for _, slot := range p.faults.ahead {
		if f := &p.faults.slots[slot]; !f.gone && now < f.To {
			all = append(all, Injected{ID: f.number, Fault: f.Fault})
		}
	}
	return all
}

// due makes the provider look at its faults in the next step.
func (p *Provider) due(now time.Duration) {
	p.changes = now
	p.wakes = min(p.wakes, now)
}
