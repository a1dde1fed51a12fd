package mockprovider

// TicketsKept returns how many tickets the provider keeps the job of.
func (p *Provider) TicketsKept() int { return len(p.jobOf) }

// FaultSlots returns how many slots for faults the provider has.
func (p *Provider) FaultSlots() int { return len(p.faults.slots) }
